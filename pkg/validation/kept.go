/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// KeptWarning says which fields an update leaves out that may not change, so that they keep their stored values (W20b).
func KeptWarning(paths []string) string {
	return fmt.Sprintf("%s: the update leaves out what may not change, so its stored value is kept: %s; to remove it, delete the JobSet and create it again",
		specPath.Child("replicatedJobs"), summary(paths))
}

// KeptDefault says the same of a field that has its default, since the schema fills that in where a field is left out.
func KeptDefault(path *field.Path, value, stored string) string {
	return fmt.Sprintf("%s: is %s, the value of a field that is left out, and may not change, so the stored %s is kept", path, value, stored)
}

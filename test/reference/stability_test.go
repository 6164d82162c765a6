/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reference

import (
	"os"
	"reflect"
	"strings"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// TestEveryFieldHasALevel fails if the page on stability does not say what may change of a field.
func TestEveryFieldHasALevel(t *testing.T) {
	page, err := os.ReadFile(pages + "stability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Fields\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, of := range []any{jobset.JobSetSpec{}, jobset.JobSetStatus{}, jobset.ReplicatedJob{}, jobset.FailurePolicy{}} {
		kind := reflect.TypeOf(of)
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(table, "`"+name+"`") && !strings.Contains(table, "."+name+"`") && !strings.Contains(table, "."+name+"[") {
				t.Errorf("the section Fields of stability.md does not name %s of %s", name, kind.Name())
			}
		}
	}
}

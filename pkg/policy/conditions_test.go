/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

func TestMessagesOfConditionsAreAsLongAsTheSchemaAllows(t *testing.T) {
	t.Parallel()
	const mostInSchema = 32768
	n := pass.BecomesTrue(jobset.JobSetFailed, "Because", "a"+strings.Repeat("é", mostInSchema))
	var conditions []metav1.Condition
	if !n.Apply(&conditions, now) {
		t.Error("C55: the change is not announced")
	}
	if got := conditions[0].Message; len(got) > mostInSchema || len(got) < mostInSchema-len("é") || !utf8.ValidString(got) || !strings.HasSuffix(got, "é...") {
		t.Errorf("C55: the message has %d bytes and ends with %q", len(got), got[len(got)-9:])
	}
	if n.Apply(&conditions, now) {
		t.Error("C55: the same condition is announced again")
	}
}

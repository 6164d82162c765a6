/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheTableOfStepsIsTheirOrder: doc.go and the comments of decide.go number the steps that are asked, under their names.
func TestTheTableOfStepsIsTheirOrder(t *testing.T) {
	t.Parallel()
	var want []string
	for _, steps := range [][]step{jobSteps, groupSteps, lastSteps} {
		for _, decide := range steps {
			function := runtime.FuncForPC(reflect.ValueOf(decide).Pointer()).Name()
			want = append(want, fmt.Sprintf("%d %s", len(want)+1, function[strings.LastIndex(function, ".")+1:]))
		}
	}
	for file, row := range map[string]struct{ pattern, as string }{
		"doc.go":    {`(?m)^//\t ?(\d+) (\w+)`, "$1 $2"},
		"decide.go": {`(?m)^\t\t(\w+), +// (\d+)$`, "$2 $1"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		pattern := regexp.MustCompile(row.pattern)
		for _, found := range pattern.FindAllString(string(text), -1) {
			got = append(got, pattern.ReplaceAllString(found, row.as))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps in %s (-asked +listed):\n%s", file, diff)
		}
	}
}

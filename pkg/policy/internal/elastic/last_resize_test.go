/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

func TestLastResize(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	before, at := ptr.To(metav1.NewTime(now.Add(-time.Hour))), ptr.To(metav1.NewTime(now))
	for name, tc := range map[string]struct {
		was  *jobset.ElasticSize
		want *metav1.Time
	}{
		"P107: the first size is no change":        {nil, nil},
		"P107: a size that stays keeps the time":   {&jobset.ElasticSize{Desired: 4, LastResizeTime: before}, before},
		"P107: a size that never changed has none": {&jobset.ElasticSize{Desired: 4}, nil},
		"P107: a change is noted":                  {&jobset.ElasticSize{Desired: 2, LastResizeTime: before}, at},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &view.View{Input: pass.Input{Now: now}}
			if diff := cmp.Diff(tc.want, lastResize(v, tc.was, 4)); diff != "" {
				t.Errorf("time (-want +got):\n%s", diff)
			}
		})
	}
}

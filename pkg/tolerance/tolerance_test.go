/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestOf(t *testing.T) {
	t.Parallel()
	defaults := Builtin().Defaults
	but := func(change func(*Settings)) Settings {
		s := defaults
		change(&s)
		return s
	}
	tests := map[string]struct {
		limits func(*Limits)
		asked  *jobset.FaultTolerance
		want   Settings
		capped []Capped
	}{
		"P82, P83: nothing is said":                 {want: defaults},
		"P82, P83: an empty block has all defaults": {asked: &jobset.FaultTolerance{}, want: defaults},
		"P82: the limit is not a time, and 0 is one": {
			asked: &jobset.FaultTolerance{RetryLimit: ptr.To[int32](0)},
			want:  but(func(s *Settings) { s.RetryLimit = 0 }),
		},
		"P83: a pause of 0 is no pause": {
			asked: &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](0)},
			want:  but(func(s *Settings) { s.RetryPause = 0 }),
		},
		"the maximum itself is not cut down": {
			asked: &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](24 * 60 * 60)},
			want:  but(func(s *Settings) { s.RetryPause = 24 * time.Hour }),
		},
		"a second more is, and that is told": {
			asked:  &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](24*60*60 + 1)},
			want:   but(func(s *Settings) { s.RetryPause = 24 * time.Hour }),
			capped: []Capped{{"retryPauseSeconds", 24*time.Hour + time.Second, 24 * time.Hour}},
		},
		"a default beyond the maximum holds, and is the maximum of its field": {
			limits: func(l *Limits) { l.Maximum, l.Defaults.RetryPause = time.Minute, time.Hour },
			asked:  &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](3601)},
			want:   but(func(s *Settings) { s.RetryPause = time.Hour }),
			capped: []Capped{{"retryPauseSeconds", time.Hour + time.Second, time.Hour}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := Builtin()
			if tc.limits != nil {
				tc.limits(&limits)
			}
			got, capped := limits.Of(tc.asked)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.capped, capped); diff != "" {
				t.Errorf("capped (-want +got):\n%s", diff)
			}
		})
	}
}

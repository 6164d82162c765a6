/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package features

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/version"
)

func TestApply(t *testing.T) {
	tests := map[string]struct {
		values  map[string]bool
		want    gates.Set
		wantErr []string
	}{
		"no values leave the defaults (O44)":   {values: nil, want: gates.Set{}},
		"an alpha gate can be turned on (O44)": {values: map[string]bool{"InPlaceRestart": true}, want: gates.Set{InPlaceRestart: true}},
		"each alpha gate is turned on by its name (O45, O46)": {
			values: map[string]bool{"RestartJob": true, "ElasticJobSet": true},
			want:   gates.Set{RestartJob: true, ElasticJobSet: true},
		},
		"all alpha gates can be turned on at once": {
			values: map[string]bool{"AllAlpha": true},
			want: gates.Set{InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, FaultTolerance: true, ElasticAutoscaling: true,
				ExecutionAttemptsTracking: true, MutablePodResourcesForSuspendedJobSets: true, JobSetActiveDeadlineSeconds: true},
		},
		"C390: executions, deadlines and resources while suspended are alpha gates by the names of upstream": {
			values: map[string]bool{"ExecutionAttemptsTracking": true, "MutablePodResourcesForSuspendedJobSets": true, "JobSetActiveDeadlineSeconds": true},
			want:   gates.Set{ExecutionAttemptsTracking: true, MutablePodResourcesForSuspendedJobSets: true, JobSetActiveDeadlineSeconds: true},
		},
		"a gate of its own name wins over AllAlpha": {
			values: map[string]bool{"AllAlpha": true, "InPlaceRestart": false},
			want: gates.Set{RestartJob: true, ElasticJobSet: true, FaultTolerance: true, ElasticAutoscaling: true,
				ExecutionAttemptsTracking: true, MutablePodResourcesForSuspendedJobSets: true, JobSetActiveDeadlineSeconds: true},
		},
		"a locked gate may be given the value it has, and nobody sees it (O47, C31, W138)": {values: map[string]bool{"TLSOptions": true}},
		"a locked gate refuses another value (O47, C31, W138)": {
			values:  map[string]bool{"TLSOptions": false},
			wantErr: []string{"TLSOptions is locked to true"},
		},
		"an unknown gate is an error that lists the known ones and their stages (O15, C31)": {
			values:  map[string]bool{"InplaceRestart": true},
			wantErr: []string{"unknown feature gates: InplaceRestart", "InPlaceRestart (ALPHA, default false)", "TLSOptions (GA, default true)"},
		},
		"gates that only a KEP names are unknown (O48)": {
			values:  map[string]bool{"GangScheduling": true, "InPlacePodReplacement": false},
			wantErr: []string{"unknown feature gates: GangScheduling, InPlacePodReplacement"},
		},
		"everything wrong is reported at once, and nothing is set": {
			values:  map[string]bool{"TLSOptions": false, "Foo": true, "InPlaceRestart": true},
			wantErr: []string{"TLSOptions is locked", "unknown feature gates: Foo"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			gate := New()
			err := Apply(gate, tc.values)
			if (err != nil) != (tc.wantErr != nil) {
				t.Fatalf("Apply() error = %v, want %q", err, tc.wantErr)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Apply() error = %v, want %q in it", err, want)
				}
			}
			if diff := cmp.Diff(tc.want, Snapshot(gate)); diff != "" {
				t.Errorf("Snapshot() (-want +got):\n%s", diff)
			}
			if !gate.Enabled(TLSOptions) {
				t.Error("TLSOptions is off")
			}
		})
	}
}

func TestGatesAreThoseOfTheRelease(t *testing.T) {
	if got := "v" + New().EmulationVersion().String(); got != version.Release {
		t.Errorf("O44: the gates are those of %s, and the release is %s", got, version.Release)
	}
}

func TestGatesAreNotShared(t *testing.T) {
	one, other := New(), New()
	if err := Apply(one, map[string]bool{"InPlaceRestart": true}); err != nil {
		t.Fatal(err)
	}
	if Snapshot(other).InPlaceRestart {
		t.Error("a gate set in one set of gates is on in another")
	}
}

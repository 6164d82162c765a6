/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// took is a restart under flow control that took so long, with so much of the API server's CPU for each worker.
func took(s scenario, seconds, milliseconds float64) result {
	s.flowControl = s.mode == jobset.ProcessMode
	return result{
		scenario: s, lastWorker: time.Duration(seconds * float64(time.Second)),
		used: usage{cpu: map[string]float64{apiServer: milliseconds * float64(s.workers) / 1000}},
	}
}

func recreated(workers int, seconds float64) result {
	return took(scenario{strategy: jobset.Recreate, limits: tunedLimits.name, delays: realDelays, workers: workers}, seconds, 40)
}

func TestGoalsSayHowFarTheyAre(t *testing.T) {
	all := seriesOf([]result{
		took(inProcess(100, inLeases), 0.5, 1), took(inProcess(100, onPods), 4, 12),
		took(inProcess(256, inLeases), 1.5, 1.5), took(inProcess(256, onPods), 3, 12),
		took(inProcess(1000, inLeases), 2.5, 2.5), took(inProcess(1000, onPods), 7, 12), recreated(1000, 30), recreated(100, 9),
		took(inProcess(5000, inLeases), 10, 2), took(inProcess(5000, onPods), 38, 12),
	})
	starts := []groupStart{
		{inProcess(1000, inLeases), step{took: 62 * time.Second, used: usage{cpu: map[string]float64{apiServer: 75}}}},
		{inProcess(1000, onPods), step{took: 60 * time.Second, used: usage{cpu: map[string]float64{apiServer: 75}}}},
	}
	var got []string
	for _, b := range append(goalsOf(all), goalsOfStarts(starts)...) {
		if b.limit != 0 || !b.kept() { // no request refused is no distance
			got = append(got, fmt.Sprintf("%s: %t, %s", b.what, b.kept(), b.distance()))
		}
	}
	const cpu = "milliseconds of the API server's CPU for each worker, "
	want := []string{
		cpu + "100 workers in Leases, flow control on: true, 50 % to spare",
		cpu + "256 workers in Leases, flow control on: true, 25 % to spare",
		"time as part of that on Pods, 256 workers in Leases, flow control on: true, 50 % to spare",
		cpu + "1000 workers in Leases, flow control on: false, 25 % beyond",
		"seconds, 1000 workers in Leases, flow control on: false, 25 % beyond",
		"a tuned Recreate takes times as long, 1000 workers in Leases, flow control on: false, 20 % beyond",
		cpu + "5000 workers in Leases, flow control on: true, 0 % to spare",
		"seconds, 5000 workers in Leases, flow control on: true, 17 % to spare",
		"time for each worker, times that of 1,000, 5000 workers in Leases, flow control on: true, 33 % to spare",
		"start of 1000 workers in Leases, as part of that on Pods, time: false, 0 % beyond",
		"start of 1000 workers in Leases, as part of that on Pods, the API server's CPU: true, 3 % to spare",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P156 (-want +got):\n%s", diff)
	}
}

func TestReportsInLeasesByDefault(t *testing.T) {
	for _, tc := range []struct {
		scenario
		want bool
	}{
		{inProcess(100, ""), false}, {inProcess(256, ""), true}, {inProcess(256, "Auto"), true}, {inProcess(100, inLeases), true}, {inProcess(5000, onPods), false},
		{scenario{strategy: jobset.InPlaceRestart, mode: jobset.ContainerMode, workers: 1000}, false},
	} {
		if got := tc.inLeases(); got != tc.want {
			t.Errorf("P150: %d workers, %s mode, reports %q: in Leases %t, want %t", tc.workers, tc.mode, tc.reports, got, tc.want)
		}
	}
}

func TestLeasesAreRefusedBeforeTheyAreSent(t *testing.T) {
	sent := 0
	m := &meter{fleet: newFleet(1), next: roundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	m.fleet.noLeases.Store(true)
	for path, want := range map[string]int{"/apis/coordination.k8s.io/v1/namespaces/a/leases/jobset.b": http.StatusForbidden, "/api/v1/namespaces/a/pods/b": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://localhost"+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if answer.StatusCode != want || err != nil || want == http.StatusForbidden && !strings.Contains(string(body), `"code":403`) {
			t.Errorf("%s: %d %s, %v, want %d", path, answer.StatusCode, body, err, want)
		}
		_ = answer.Body.Close()
	}
	if reports, _ := m.fleet.reported(); sent != 1 || len(reports) != 1 {
		t.Errorf("%d requests were sent, %d reports counted, want that on the Pod", sent, len(reports))
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

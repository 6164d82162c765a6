/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

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

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/gates"
)

func TestTheVersionOfTheAPIServerIsReadForInPlaceRestart(t *testing.T) {
	for name, tc := range map[string]struct {
		gates  gates.Set
		answer string
		want   string // version, or a part of the error
		asked  int
	}{
		"P57: once":                             {gates.Set{InPlaceRestart: true}, `{"gitVersion":"v1.35.9-gke.7"}`, "1.35.9", 1},
		"P57: not with the gate off":            {gates.Set{}, `{"gitVersion":"v1.35.9"}`, "", 0},
		"P57: an answer that nobody can read":   {gates.Set{InPlaceRestart: true}, `{"gitVersion":"new"}`, "reading the version of the API server: ", 1},
		"P57: an API server that has no answer": {gates.Set{InPlaceRestart: true}, `no`, "reading the version of the API server: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				_, _ = w.Write([]byte(tc.answer))
			}))
			defer server.Close()
			cfg := defaultsBut(func(cfg *configapi.Configuration) {
				cfg.InPlaceRestart = &configapi.InPlaceRestart{AgentImage: "agent"}
			})
			got, err := clusterOf(cfg, &rest.Config{Host: server.URL}, tc.gates)
			if asked != tc.asked {
				t.Errorf("asked %d times, want %d", asked, tc.asked)
			}
			switch {
			case err != nil:
				if tc.want == "" || !strings.HasPrefix(err.Error(), tc.want) {
					t.Errorf("error %v, want %q", err, tc.want)
				}
			case got.AgentImage != "agent" || (got.Server == nil) != (tc.want == "") || got.Server != nil && got.Server.String() != tc.want:
				t.Errorf("got %+v, want version %q", got, tc.want)
			}
		})
	}
}

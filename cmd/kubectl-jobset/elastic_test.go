/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const (
	nodesPath   = "/api/v1/nodes"
	allPodsPath = "/api/v1/pods"
)

// elasticServing returns a server with a cluster without nodes and Pods, and the given changes.
func elasticServing(changes map[string]func(http.ResponseWriter)) *apiServer {
	s := serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){
		nodesPath: emptyList("v1", "NodeList"), allPodsPath: emptyList("v1", "PodList"),
	})
	for path, answer := range changes {
		s.answers[path] = answer
		if answer == nil {
			delete(s.answers, path)
		}
	}
	return s
}

func TestP109ElasticTakesThreeRequestsAndShowsTheCluster(t *testing.T) {
	t.Parallel()
	s := elasticServing(nil)
	out, err := kubectlJobSet(t, s, "elastic", "--accelerators", "example.com/a,example.com/b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{jobSetsPath, nodesPath, allPodsPath + " spec.nodeName!="}, s.asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, want := range []string{"example.com/a", "example.com/b", "No elastic jobs."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func TestP109ElasticSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	type answers = map[string]func(http.ResponseWriter)
	broken := refuse(http.StatusInternalServerError, "InternalError", "broken")
	for name, tc := range map[string]struct {
		answers answers
		args    []string
		want    string
	}{
		"The cluster has no JobSets": {answers{jobSetsPath: nil}, nil, "this cluster does not serve jobset.x-k8s.io/v1alpha2: install JobSet"},
		"JobSets may not be read":    {answers{jobSetsPath: refuse(http.StatusForbidden, "Forbidden", "not for you")}, nil, "listing JobSets: not for you"},
		"Nodes fail to be read":      {answers{nodesPath: broken}, nil, "listing nodes: broken"},
		"Pods fail to be read":       {answers{allPodsPath: broken}, nil, "listing the Pods of all namespaces: broken"},
		"A name":                     {nil, []string{"train"}, `unexpected argument "train"`},
		"P113 No such JobSet":        {nil, []string{"--why", "train"}, `no elastic job of a JobSet "train" that has not ended: kubectl jobset elastic -A shows all`},
		"An unknown format":          {nil, []string{"-o", "xml"}, `--output is "xml", it must be table, json or yaml`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := kubectlJobSet(t, elasticServing(tc.answers), append([]string{"elastic"}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("error %v, want %q; output %q", err, tc.want, out)
			}
		})
	}
}

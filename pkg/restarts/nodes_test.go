/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestNodesByTheirFailures(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	before := func(d time.Duration) metav1.Time { return metav1.NewTime(at.Add(-d)) }
	crash := func(node string) string {
		return "container worker of worker pod w-0-0 exited with code 1 on node " + node
	}
	crashed := func(d time.Duration, node string) jobset.RestartRecord {
		r := restarted(at.Add(-d), time.Second, 1, "")
		r.Cause = jobset.RestartCause{Type: jobset.CauseExited, Container: "worker", Pod: "w-0-0", ExitCode: 1, Node: node}
		return r
	}
	js := func(name string, known ...jobset.NodeFailures) *jobset.JobSet {
		js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		js.Spec.FaultTolerance = &jobset.FaultTolerance{AvoidNodes: &jobset.AvoidNodes{Failures: 3, WithinSeconds: 3600}}
		js.Status.FaultTolerance = &jobset.FaultToleranceStatus{NodeFailures: known}
		return js
	}
	of := func(js *jobset.JobSet, history ...jobset.RestartRecord) []NodeFailure {
		js.Status.RestartHistory = history
		return NodeFailuresOf(js, History(js), at)
	}
	minutes := before(30 * time.Minute)
	remembers := js("a", jobset.NodeFailures{
		Node: "n1", Times: []metav1.Time{before(2 * time.Hour), before(31 * time.Minute)}, Cause: crash("n1"), AvoidedSince: &minutes,
	})
	all := append(of(remembers, crashed(31*time.Minute-2*time.Second, "n1")),
		of(js("b"), crashed(time.Minute, "n1"), crashed(time.Minute, "n2"), restarted(at, 0, 1, "worker pod w-0-1 restarted, its exit code was not seen"))...)
	all = append(all, of(js("c", jobset.NodeFailures{Node: "n3", Times: []metav1.Time{before(2 * time.Hour)}, Cause: crash("n3"), AvoidedSince: new(before(2 * time.Hour))}))...)

	nodes := FailingNodes(all)
	type row struct {
		Name               string
		Failures           int
		JobSets, AvoidedBy string
	}
	var got []row
	for _, n := range nodes {
		got = append(got, row{n.Name, len(n.Failures), strings.Join(n.JobSets, " "), strings.Join(n.AvoidedBy, " ")})
	}
	want := []row{{"n1", 3, "ns/a ns/b", "ns/a"}, {"n2", 1, "ns/b", ""}, {"n3", 1, "ns/c", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P95: nodes (-want +got):\n%s", diff)
	}
	wantText := `NODE  FAILURES  JOBSETS  AVOIDED BY  LAST
n1    3         2        ns/a        60s
n2    1         1        -           60s
n3    1         1        -           120m

NODE  AGO  JOBSET  CAUSE
n1    60s  ns/b    container worker of worker pod w-0-0 exited with code 1 on node n1
n1    30m  ns/a    container worker of worker pod w-0-0 exited with code 1 on node n1
n1                 ... and 1 more, see them with --limit 0
n2    60s  ns/b    container worker of worker pod w-0-0 exited with code 1 on node n2
n3    120m  ns/c   container worker of worker pod w-0-0 exited with code 1 on node n3
`
	if diff := cmp.Diff(strings.Join(strings.Fields(wantText), " "), strings.Join(strings.Fields(NodesText(nodes, 2, at)), " ")); diff != "" {
		t.Errorf("P95: text (-want +got):\n%s", diff)
	}
	if text := NodesText(nil, 2, at); !strings.HasPrefix(text, "No restart") {
		t.Errorf("P95: of none: %s", text)
	}
}

func TestACauseDrawsNothingOnATerminal(t *testing.T) {
	t.Parallel()
	text := NodesText(FailingNodes([]NodeFailure{{JobSet: "ns/a", Node: "n1", Cause: "\x1b[2Jexited\non node n1"}}), 0, time.Now())
	if strings.Contains(text, "\x1b") || strings.Contains(text, "exited\n") {
		t.Errorf("P95: %q", text)
	}
}

// TestLostNodes: who looks later sees which nodes were silent, and who keeps off them (P174).
func TestLostNodes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Obj()
	js.Status.LostNodes = []jobset.LostNode{{Node: "n1", Epoch: 1, Time: metav1.NewTime(at)}, {Node: "n2", Epoch: 1, Time: metav1.NewTime(at), HeardTime: new(metav1.NewTime(at))}}
	report := Of(Input{JobSet: js, Now: at})
	want := Notes{"node n1 was silent at 2026-03-14T12:00:00Z, worker replaced by force; new Pods avoid it until one of them finds no other node and this one reports again"}
	if diff := cmp.Diff(want, report.Notes); diff != "" {
		t.Errorf("P174: notes (-want +got):\n%s", diff)
	}
	nodes := FailingNodes(NodeFailuresOf(js, report.LastRestarts, at))
	if len(nodes) != 2 || nodes[0].Failures[0].Cause != "node n1 was silent, worker replaced by force" || len(nodes[0].AvoidedBy) != 1 || len(nodes[1].AvoidedBy) != 0 {
		t.Errorf("P174: nodes are %+v", nodes)
	}
}

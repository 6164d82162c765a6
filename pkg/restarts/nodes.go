/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// FailingNode is a node on which restarts had their first cause, of whichever JobSets (P95).
type FailingNode struct {
	Name string `json:"name"`
	// Failures are known ones, newest first.
	Failures []NodeFailure `json:"failures"`
	// JobSets are those that failed there, AvoidedBy those of them whose new Pods avoid it; namespace/name.
	JobSets   []string `json:"jobSets"`
	AvoidedBy []string `json:"avoidedBy,omitempty"`
}

// NodeFailure is a restart that one node caused.
type NodeFailure struct {
	JobSet string `json:"jobSet"`
	// Node is left out where it is clear.
	Node string       `json:"-"`
	Time *metav1.Time `json:"time,omitempty"`
	// Cause is empty if nothing tells it any more.
	Cause string `json:"cause,omitempty"`
	// Avoided: new Pods of the JobSet avoid the node.
	Avoided bool `json:"-"`
}

// sameFailure is how far the two times of one failure in the status can be apart.
const sameFailure = 5 * time.Second

// NodeFailuresOf returns the failures of a JobSet that are known to have been on a node: those that its restarts tell of, those
// that its status remembers longer than events are kept, and lost nodes (P174).
func NodeFailuresOf(js *jobset.JobSet, restarts []Restart, now time.Time) []NodeFailure {
	id := js.Namespace + "/" + js.Name
	var all []NodeFailure
	for i := range restarts {
		if r := &restarts[i]; r.Cause.Node != "" {
			all = append(all, NodeFailure{JobSet: id, Node: r.Cause.Node, Time: ptr.To(metav1.NewTime(r.Began.Time)), Cause: r.Because})
		}
	}
	for i := range js.Status.LostNodes {
		n := &js.Status.LostNodes[i]
		all = append(all, NodeFailure{JobSet: id, Node: n.Node, Time: &n.Time, Cause: "node " + n.Node + " was silent, " + replacedByForce, Avoided: n.HeardTime == nil})
	}
	if js.Status.FaultTolerance == nil || js.Spec.FaultTolerance == nil || js.Spec.FaultTolerance.AvoidNodes == nil {
		return all
	}
	_, within := tolerance.Avoidance(js.Spec.FaultTolerance.AvoidNodes)
	for _, n := range js.Status.FaultTolerance.NodeFailures {
		for i, at := range n.Times {
			known := slices.ContainsFunc(all, func(f NodeFailure) bool {
				return f.Node == n.Node && f.Time != nil && f.Time.Sub(at.Time).Abs() <= sameFailure
			})
			if known {
				continue
			}
			failure := NodeFailure{JobSet: id, Node: n.Node, Time: &n.Times[i]}
			if i == len(n.Times)-1 {
				failure.Cause = n.Cause
			}
			all = append(all, failure)
		}
		avoided := n.AvoidedSince != nil && now.Before(n.AvoidedSince.Add(within))
		for i := range all {
			all[i].Avoided = all[i].Avoided || avoided && all[i].Node == n.Node
		}
	}
	return all
}

// FailingNodes lists nodes, the one with the most failures first.
func FailingNodes(failures []NodeFailure) []FailingNode {
	byName := map[string]*FailingNode{}
	for _, f := range failures {
		n := byName[f.Node]
		if n == nil {
			n = &FailingNode{Name: f.Node}
			byName[f.Node] = n
		}
		n.Failures = append(n.Failures, f)
	}
	list := []FailingNode{}
	for _, n := range byName {
		slices.SortStableFunc(n.Failures, func(a, b NodeFailure) int {
			return cmp.Or(whenever(b.Time).Compare(whenever(a.Time)), cmp.Compare(a.JobSet, b.JobSet))
		})
		for _, f := range n.Failures {
			n.JobSets = append(n.JobSets, f.JobSet)
			if f.Avoided {
				n.AvoidedBy = append(n.AvoidedBy, f.JobSet)
			}
		}
		n.JobSets, n.AvoidedBy = sortedOnce(n.JobSets), sortedOnce(n.AvoidedBy)
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b FailingNode) int {
		return cmp.Or(cmp.Compare(len(b.Failures), len(a.Failures)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

const replacedByForce = "worker replaced by force"

// explainLostNodes says which nodes new Pods keep off because workers were lost there (P174).
func (r *Report) explainLostNodes(js *jobset.JobSet) {
	for i := range js.Status.LostNodes {
		if n := &js.Status.LostNodes[i]; r.inPlace() && n.HeardTime == nil {
			r.Notes.Add("node %s was silent at %s, %s; new Pods avoid it until one of them finds no other node and this one reports again", n.Node, stamp(n.Time.Time), replacedByForce)
		}
	}
}

func whenever(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func sortedOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// NodesText is a list of nodes for a terminal. Of each it shows so many failures.
func NodesText(nodes []FailingNode, limit int, now time.Time) string {
	if len(nodes) == 0 {
		return "No restart that is still known of began on a known node.\n"
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tFAILURES\tJOBSETS\tAVOIDED BY\tLAST")
	for i := range nodes {
		n := &nodes[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", n.Name, len(n.Failures), len(n.JobSets), avoidedBy(n), elapsed(n.Failures[0].Time, now))
	}
	flush(w)
	fmt.Fprintln(&out)
	fmt.Fprintln(w, "NODE\tAGO\tJOBSET\tCAUSE")
	for i := range nodes {
		failures := nodes[i].Failures
		for k := range failures {
			if limit > 0 && k == limit {
				fmt.Fprintf(w, "%s\t\t\t... and %d more, see them with --limit 0\n", nodes[i].Name, len(failures)-k)
				break
			}
			cause := cmp.Or(cut(OneLine(failures[k].Cause)), "no longer recorded")
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", nodes[i].Name, elapsed(failures[k].Time, now), failures[k].JobSet, cause)
		}
	}
	flush(w)
	return out.String()
}

func avoidedBy(n *FailingNode) string {
	switch len(n.AvoidedBy) {
	case 0:
		return "-"
	case 1:
		return n.AvoidedBy[0]
	}
	return strconv.Itoa(len(n.AvoidedBy)) + " JobSets"
}

func elapsed(t *metav1.Time, now time.Time) string {
	if t == nil {
		return "unknown"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

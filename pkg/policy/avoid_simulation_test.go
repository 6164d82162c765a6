/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math/rand"
	"slices"
	"testing"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// A cluster in a model: 1,000 JobSets of 8 workers on 1,010 nodes with room for 8 workers each, and one node that makes whoever
// runs there fail once an hour. What a JobSet does after a failure is decided by Decide; a scheduler puts a Pod
// onto a free place at random.
const (
	crowd, workersOfEach = 1000, 8
	hosts, placesOfEach  = 1010, 8
	badHost              = "n0"
	week                 = 7 * 24
)

type learner struct {
	js     *jobset.JobSet
	places []int // the node of each worker
}

type model struct {
	random   *rand.Rand
	free     []int // places of each node
	learners []*learner
	asks     *jobset.AvoidNodes
	restarts int
}

func newModel(asks *jobset.AvoidNodes) *model {
	m := &model{random: rand.New(rand.NewSource(1)), free: make([]int, hosts), asks: asks}
	for i := range m.free {
		m.free[i] = placesOfEach
	}
	for range crowd {
		m.learners = append(m.learners, m.starts(now))
	}
	return m
}

func (m *model) starts(at time.Time) *learner {
	l := &learner{js: inPlace(0, 1, "2 1", gpus).JobSet}
	l.js.Spec.FailurePolicy.MaxRestarts = 1_000_000
	l.js.Spec.FaultTolerance.AvoidNodes = m.asks
	for range workersOfEach {
		l.places = append(l.places, m.takes(l, at))
	}
	return l
}

// takes is what the scheduler does.
func (m *model) takes(l *learner, at time.Time) int {
	avoids := slices.Contains(AvoidedNodes(l.js, gates.Set{FaultTolerance: true}, at), badHost)
	for {
		if node := m.random.Intn(hosts); m.free[node] > 0 && (node != 0 || !avoids) {
			m.free[node]--
			return node
		}
	}
}

// fails lets the JobSet fail on the bad node, and moves its workers if it decides to avoid that.
func (m *model) fails(t *testing.T, l *learner, at time.Time) {
	m.restarts++
	in := inPlace(0, 1, "2 1")
	in.JobSet, in.Now = l.js.DeepCopy(), at
	in.JobSet.Status.DeprecatedEpoch, in.JobSet.Status.SyncedEpoch = new(int32), new(int32(1))
	in.Gates.FaultTolerance, in.Tolerance = true, tolerance.Builtin()
	in.FirstFailure = &Failure{Pod: "w", Container: "worker", ExitCode: 1, Node: badHost}
	plan, err := Decide(in)
	if err != nil {
		t.Fatal(err)
	}
	l.js.Status = plan.Status
	if len(AvoidedNodes(l.js, in.Gates, at)) == 0 {
		return
	}
	for i, node := range l.places {
		if node == 0 {
			m.free[0]++
			l.places[i] = m.takes(l, at)
		}
	}
}

// runs for a week. Each hour so many JobSets end, and others take their place. It returns the hour in which the last left the node.
func (m *model) runs(t *testing.T, ending int) (left int) {
	for hour := range week {
		at := now.Add(time.Duration(hour) * time.Hour)
		used := false
		for _, l := range m.learners {
			if slices.Contains(l.places, 0) {
				used = true
				m.fails(t, l, at)
			}
		}
		if used {
			left = hour
		}
		for range ending {
			i := m.random.Intn(crowd)
			for _, node := range m.learners[i].places {
				m.free[node]++
			}
			m.learners[i] = m.starts(at)
		}
	}
	return left
}

// TestOneBadNodeAndAThousandJobSets prints what avoiding saves: go test ./pkg/policy -run OneBadNode -v
func TestOneBadNodeAndAThousandJobSets(t *testing.T) {
	t.Parallel()
	for _, ending := range []int{0, 10} {
		without := newModel(nil)
		without.runs(t, ending)
		with := newModel(&jobset.AvoidNodes{Failures: 3, WithinSeconds: 24 * 60 * 60})
		left := with.runs(t, ending)
		t.Logf("P93: a week, %d JobSets end in each hour: %d restarts by the bad node without avoidNodes, %d with it; the last used it in hour %d",
			ending, without.restarts, with.restarts, left)
		if ending == 0 && with.restarts > 3*placesOfEach*(week/24) {
			t.Errorf("P93: %d restarts, more than 3 a day for each place", with.restarts)
		}
		if with.restarts*2 > without.restarts {
			t.Errorf("P93: %d restarts with avoidNodes, %d without", with.restarts, without.restarts)
		}
	}
}

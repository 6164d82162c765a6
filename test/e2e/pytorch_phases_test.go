/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// trainerPhases is one restart of a training, from the moment one rank was killed to the next step.
type trainerPhases struct {
	// Way is how the ranks start again.
	Way string
	// The controller's share: until it is told to restart, until all have stopped, and until all may start.
	Detect, Stop, Barrier time.Duration
	// The program's: until the last rank is started, has imported PyTorch, is connected, has loaded the checkpoint, and
	// until the first step is done.
	Exec, Imports, Rendezvous, Load, Step time.Duration
}

func (p trainerPhases) total() time.Duration {
	return p.Detect + p.Stop + p.Barrier + p.Exec + p.Imports + p.Rendezvous + p.Load + p.Step
}

const trainerPhasesEntry = "phases of a restart of a training"

// trainerRestarts is how often each training is restarted.
const trainerRestarts = 3

// long is a training that goes on for longer than it is looked at.
var long = pace{stepSeconds: 0.5, saveEvery: 1}

// What a restart costs a program that does something: the seconds that the controller and the program take.
var _ = Describe("how long a training with PyTorch takes to go on", Serial, Label(pytorch, "numbers"), func() {
	for _, way := range []string{processWay, warmWay, torchrunWay, containerWay} {
		It("P124: "+way, func(ctx SpecContext) {
			p := long
			p.container = way == containerWay
			t := train(ctx, p, goesOn, func(js *jobset.JobSet) { startsBy(js, way) })
			round := t.RunsAt(1)
			for restart := range trainerRestarts {
				t.steps(round)
				if way == warmWay {
					t.standbys(round)
				}
				at := t.strike(way, round, 1+restart%(ranks-1))
				next := t.RunsAt(round.Epoch + 1)
				next.IsInPlaceOf(round)
				t.measured(way, t.Phases(at, next), next)
				round = next
			}
			t.Charged(trainerRestarts)
		}, SpecTimeout(2*specTime))
	}

	It("P124: "+recreateWay, func(ctx SpecContext) {
		t := train(ctx, long, goesOn, recreated)
		round := t.RunsAttempt(0)
		for restart := range int32(trainerRestarts) {
			t.steps(round)
			at := t.strike(recreateWay, round, 1+int(restart)%(ranks-1))
			next := t.RunsAttempt(restart + 1)
			next.IsAllNew(round)
			t.measured(recreateWay, t.PhasesOfRecreate(at, next, restart+1), next)
			round = next
		}
	}, SpecTimeout(2*specTime))
})

const (
	processWay   = "process mode"
	warmWay      = "process mode, warm start"
	torchrunWay  = "process mode, torchrun"
	containerWay = "container mode"
	recreateWay  = "Recreate"
)

// goesOn makes more steps than are ever waited for.
func goesOn(js *jobset.JobSet) {
	js.Spec.FailurePolicy.MaxRestarts = 100
	setVariable(js, corev1.EnvVar{Name: "STEPS", Value: "100000"})
}

func setVariable(js *jobset.JobSet, variable corev1.EnvVar) {
	worker := &podOf(js).Containers[0]
	for i := range worker.Env {
		if worker.Env[i].Name == variable.Name {
			worker.Env[i] = variable
			return
		}
	}
	worker.Env = append(worker.Env, variable)
}

// startsBy makes the ranks start without torchrun, or in container mode.
func startsBy(js *jobset.JobSet, way string) {
	if way != torchrunWay {
		podOf(js).Containers[0].Command = []string{"python3", "/train/train.py"}
	}
	if way == warmWay {
		js.Spec.FailurePolicy.InPlaceRestart.WarmStart = &jobset.WarmStartPolicy{}
	}
	if way == containerWay {
		// With gate ElasticJobSet the size may change, so the manager cannot give the variables in container mode.
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode}
		namesRanks(js)
	}
}

// recreated is what a user writes without in-place restart.
func recreated(js *jobset.JobSet) {
	startsBy(js, recreateWay)
	js.Spec.FailurePolicy.RestartStrategy, js.Spec.FailurePolicy.InPlaceRestart = jobset.Recreate, nil
	job := &js.Spec.ReplicatedJobs[0].Template.Spec
	job.BackoffLimit, job.Completions = ptr.To[int32](0), ptr.To[int32](ranks)
	podOf(js).RestartPolicy = corev1.RestartPolicyNever
	namesRanks(js)
}

// namesRanks writes the variables of PyTorch into the template.
func namesRanks(js *jobset.JobSet) {
	setVariable(js, corev1.EnvVar{Name: "RANK", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		FieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']",
	}}})
	setVariable(js, corev1.EnvVar{Name: "WORLD_SIZE", Value: fmt.Sprint(ranks)})
	setVariable(js, corev1.EnvVar{Name: "MASTER_ADDR", Value: nameOfRankZero(js.Name)})
	setVariable(js, corev1.EnvVar{Name: "MASTER_PORT", Value: "29500"})
}

// strike kills a rank and returns when. Without a supervisor it is the first process of its container, which nobody can
// kill from inside.
func (t *training) strike(way string, round *stories.Round, place int) time.Time {
	GinkgoHelper()
	if way == processWay || way == warmWay || way == torchrunWay {
		return t.kill(round.Pods[place])
	}
	return t.Tell(syscall.SIGKILL, round.Worker(place))
}

// milestone is when the last rank of a round had come to a message in its present start; rank 0 alone tells its steps.
func (t *training) milestone(round *stories.Round, msg string) (at time.Time) {
	GinkgoHelper()
	pods := round.Pods
	if msg == "step" {
		pods = pods[:1]
	}
	for i, pod := range pods {
		t.eventually(func(expect Gomega) {
			all, err := lines(t.ctx, pod)
			expect.Expect(err).NotTo(HaveOccurred())
			first := slices.IndexFunc(all, func(s said) bool { return s.Msg == msg && !s.Time.Before(round.Started[i]) })
			expect.Expect(first).To(BeNumerically(">=", 0), "%q of the rank in Pod %s", msg, pod.Name)
			if all[first].Time.After(at) {
				at = all[first].Time
			}
		})
	}
	return at
}

// standbys waits until a standby waits at its gate in each Pod.
func (t *training) standbys(round *stories.Round) {
	GinkgoHelper()
	for _, pod := range round.Pods {
		t.eventually(func(expect Gomega) {
			all, err := lines(t.ctx, pod)
			expect.Expect(err).NotTo(HaveOccurred())
			expect.Expect(last(all, "imported").Time).To(BeTemporally(">", last(all, "start").Time), "a standby of Pod %s waits", pod.Name)
		})
	}
}

// steps waits until the training goes on.
func (t *training) steps(round *stories.Round) {
	GinkgoHelper()
	t.milestone(round, "step")
}

// measured adds a restart to the report. The program sleeps before it tells its first step, which is not counted.
func (t *training) measured(way string, of stories.Phases, round *stories.Round) {
	GinkgoHelper()
	p := trainerPhases{Way: way, Detect: of.Break, Stop: of.Back, Barrier: of.Lift, Exec: of.Run}
	at := round.LastStart()
	phases := []struct {
		msg string
		is  *time.Duration
	}{{"imported", &p.Imports}, {"connected", &p.Rendezvous}, {"loaded", &p.Load}, {"step", &p.Step}}
	if way == warmWay { // it has imported before it is started
		phases = phases[1:]
	}
	for _, phase := range phases {
		next := t.milestone(round, phase.msg)
		*phase.is, at = next.Sub(at), next
	}
	p.Step -= time.Duration(long.stepSeconds * float64(time.Second))
	AddReportEntry(trainerPhasesEntry, p, ReportEntryVisibilityNever)
}

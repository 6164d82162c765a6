/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestObstacles(t *testing.T) {
	const jobPath = "spec.replicatedJobs[0].template.spec"
	const pod = jobPath + ".template.spec"
	const worker = pod + ".containers[1]"
	onCodes := func(action batchv1.PodFailurePolicyAction, container *string, op batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) func(*batchv1.JobSpec) {
		return func(job *batchv1.JobSpec) {
			job.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{}}},
				{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: container, Operator: op, Values: codes}},
			}}
		}
	}
	ofWorker := func(change func(c *corev1.Container)) func(*batchv1.JobSpec) {
		return func(job *batchv1.JobSpec) { change(&job.Template.Spec.Containers[1]) }
	}
	ofPod := func(change func(spec *corev1.PodSpec)) func(*batchv1.JobSpec) {
		return func(job *batchv1.JobSpec) { change(&job.Template.Spec) }
	}
	stopsBy := func(signal corev1.Signal) func(*batchv1.JobSpec) {
		return ofWorker(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: &signal} })
	}
	for name, tc := range map[string]struct {
		change func(job *batchv1.JobSpec)
		want   []string
	}{
		"P60: a command is enough":                 {change: func(*batchv1.JobSpec) {}},
		"P60: no command":                          {ofWorker(func(c *corev1.Container) { c.Command = nil; c.Args = []string{"train.py"} }), []string{worker + ".command"}},
		"P60: a terminal":                          {ofWorker(func(c *corev1.Container) { c.TTY, c.Stdin = true, true }), []string{worker + ".tty", worker + ".stdin"}},
		"P60: a liveness probe":                    {ofWorker(func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }), []string{worker + ".livenessProbe"}},
		"P60: a startup probe":                     {ofWorker(func(c *corev1.Container) { c.StartupProbe = &corev1.Probe{} }), []string{worker + ".startupProbe"}},
		"P60: a readiness probe only reports":      {change: ofWorker(func(c *corev1.Container) { c.ReadinessProbe = &corev1.Probe{} })},
		"P60: postStart":                           {ofWorker(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}} }), []string{worker + ".lifecycle.postStart"}},
		"P60: preStop comes at the end of the Pod": {change: ofWorker(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{}} })},
		"P69b: a signal that programs hear":        {change: stopsBy(corev1.SIGUSR1)},
		"P69b: one that supervisors do not hear":   {stopsBy(corev1.SIGCHLD), []string{worker + ".lifecycle.stopSignal"}},
		"P69b: one that the runtime of Go keeps":   {stopsBy(corev1.SIGRTMIN), []string{worker + ".lifecycle.stopSignal"}},
		"P60: a container that restarts by itself": {ofWorker(func(c *corev1.Container) { c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyOnFailure) }), []string{worker + ".restartPolicy"}},
		"P60: a container that never does":         {change: ofWorker(func(c *corev1.Container) { c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever) })},
		"P60: restart rules of the author's":       {ofWorker(func(c *corev1.Container) { c.RestartPolicyRules = RestartAllUnless(0) }), []string{worker + ".restartPolicyRules"}},
		"P60: one process namespace for all":       {ofPod(func(s *corev1.PodSpec) { s.ShareProcessNamespace = ptr.To(true) }), []string{pod + ".shareProcessNamespace"}},
		"P60: the word that there is none":         {change: ofPod(func(s *corev1.PodSpec) { s.ShareProcessNamespace = ptr.To(false) })},
		"P60: the process namespace of the node":   {ofPod(func(s *corev1.PodSpec) { s.HostPID = true }), []string{pod + ".hostPID"}},
		"P60: Windows":                             {ofPod(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Windows} }), []string{pod + ".os.name"}},
		"P60: Windows by a node selector":          {ofPod(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"kubernetes.io/os": "windows"} }), []string{pod + ".nodeSelector[kubernetes.io/os]"}},
		"P60: Linux":                               {change: ofPod(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Linux} })},
		"P60: an agent of the author's":            {ofPod(func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{}, Agent(Options{})} }), []string{pod + ".initContainers[1]"}},
		"P60: an agent of the author's, whatever its workers have": {func(job *batchv1.JobSpec) {
			job.Template.Spec.InitContainers = []corev1.Container{Agent(Options{})}
			job.Template.Spec.Containers[1].Command = nil
		}, []string{pod + ".initContainers[0]"}},
		"P60: a sidecar of a mesh": {change: ofPod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		})},
		"P61: names that are added": {ofPod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "setup"}, {Name: SupervisorName}}
			s.Volumes = []corev1.Volume{{Name: SupervisorName}}
			s.Containers[0].Name = SupervisorName
		}), []string{pod + ".initContainers[1].name", pod + ".volumes[0].name", pod + ".containers[0].name"}},
		"P61: mount paths and variables that are added": {ofWorker(func(c *corev1.Container) {
			c.VolumeMounts = []corev1.VolumeMount{{MountPath: "/jobset/"}, {MountPath: "/data"}, {MountPath: "/jobset/cache"}}
			c.Env = []corev1.EnvVar{{Name: "JOBSET_NAME"}, {Name: "JOBSET_EPOCH"}}
		}), []string{worker + ".volumeMounts[0].mountPath", worker + ".volumeMounts[2].mountPath", worker + ".env[1].name"}},
		"P53: a rule for 65":                              {onCodes("FailJob", nil, "In", 3, 65), []string{jobPath + ".podFailurePolicy.rules[1].onExitCodes.values"}},
		"P53: a rule for all but some":                    {onCodes("Count", nil, "NotIn", 3), []string{jobPath + ".podFailurePolicy.rules[1].onExitCodes.values"}},
		"P53: a rule for all but some and 65":             {change: onCodes("FailJob", nil, "NotIn", 3, 65)},
		"P53: a rule for a container that does not exist": {change: onCodes("FailJob", ptr.To("other"), "In", 65)},
	} {
		t.Run(name, func(t *testing.T) {
			js := &jobset.JobSet{Spec: jobset.JobSetSpec{ReplicatedJobs: make([]jobset.ReplicatedJob, 1)}}
			job := &js.Spec.ReplicatedJobs[0].Template.Spec
			job.Template.Spec.Containers = []corev1.Container{{Name: "helper", Command: []string{"helper"}}, {Name: "worker", Command: []string{"worker"}}}
			tc.change(job)
			var got []string
			for _, o := range Obstacles(js) {
				got = append(got, o.Path.String())
				if o.Reason == "" || o.Fix == "" || (o.Value == nil) != (o.Path.String() == worker+".command") {
					t.Errorf("an obstacle that says too little: %+v", o)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("obstacles (-want +got):\n%s", diff)
			}
			want := jobset.ProcessMode
			if len(tc.want) > 0 {
				want = jobset.ContainerMode
			}
			if got, why := DefaultMode(js); got != want || len(why) != len(tc.want) {
				t.Errorf("P60: the mode is %s for %d reasons, want %s", got, len(why), want)
			}
		})
	}
}

func TestObstaclesOfAJobSet(t *testing.T) {
	claim := corev1.PersistentVolumeClaim{}
	claim.Name = SupervisorName
	for name, tc := range map[string]struct {
		spec jobset.JobSetSpec
		want string
	}{
		"P53: 65 as a code for a new Pod": {jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{
			InPlaceRestart: &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: []int32{64, 65}}}},
			"spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[1]"},
		"P61: a claim with the name of the volume that is added": {jobset.JobSetSpec{VolumeClaimPolicies: []jobset.VolumeClaimPolicy{
			{Templates: []corev1.PersistentVolumeClaim{{}, claim}}}}, "spec.volumeClaimPolicies[0].templates[1].metadata.name"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Obstacles(&jobset.JobSet{Spec: tc.spec})
			if len(got) != 1 || got[0].Path.String() != tc.want {
				t.Errorf("obstacles: %+v, want one at %s", got, tc.want)
			}
		})
	}
}

func TestModeOf(t *testing.T) {
	for name, tc := range map[string]struct {
		policy *jobset.FailurePolicy
		want   jobset.InPlaceRestartMode
	}{
		"P59: no policy":               {nil, jobset.ContainerMode},
		"P59: a policy without more":   {&jobset.FailurePolicy{}, jobset.ContainerMode},
		"P59: no mode":                 {&jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: []int32{3}}}, jobset.ContainerMode},
		"P60: the mode that is stored": {&jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}}, jobset.ProcessMode},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ModeOf(tc.policy); got != tc.want {
				t.Errorf("ModeOf = %s, want %s", got, tc.want)
			}
		})
	}
}

func TestWhenAWorkerThatIsCutOffHasStopped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		progress *jobset.ProgressPolicy
		want     int32
	}{
		"P171: nothing stops it without a deadline": {nil, 0},
		"P171: nor with one that is off":            {&jobset.ProgressPolicy{StallSeconds: ptr.To[int32](0)}, 0},
		"P171: the deadline and 15 s":               {&jobset.ProgressPolicy{StallSeconds: ptr.To[int32](10)}, 25},
		"P171: and the time for a dump":             {&jobset.ProgressPolicy{StallSeconds: ptr.To[int32](10), DumpSignal: jobset.DumpSignalUSR1, DumpSeconds: ptr.To[int32](5)}, 30},
		"P171: which has a default":                 {&jobset.ProgressPolicy{StallSeconds: ptr.To[int32](10), DumpSignal: jobset.DumpSignalUSR1}, 27},
		"P171: the longest is no short one":         {&jobset.ProgressPolicy{StallSeconds: ptr.To[int32](math.MaxInt32)}, math.MaxInt32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{Progress: tc.progress, LostNode: &jobset.LostNodePolicy{}}}
			if stopped, replaced := StoppedAfterSeconds(policy), LostNodeSeconds(policy); stopped != tc.want || replaced != tc.want {
				t.Errorf("stopped after %d s and replaced after %d, want %d", stopped, replaced, tc.want)
			}
		})
	}
}

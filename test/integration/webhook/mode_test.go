/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/workerpod"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// inProcess is what process mode is stored as.
var inProcess = jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, StopGracePeriodSeconds: ptr.To[int32](2)}

// restarting has settings for restarts in place.
func restarting(policy map[string]any) map[string]any {
	return map[string]any{"inPlaceRestart": policy}
}

// processes restarts processes, as is asked for, with a worker that can.
func processes(change func(js *jobset.JobSet)) *jobset.JobSet {
	js := JobSet("js", Replicated("workers", 1, 2))
	job := JobTemplate(js, 0)
	job.BackoffLimit, job.PodReplacementPolicy = nil, nil
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 10, RestartStrategy: jobset.InPlaceRestart,
		InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}}
	job.Template.Spec.Containers[0].Command = []string{"python", "train.py"}
	if change != nil {
		change(js)
	}
	return js
}

var _ = Describe("The mode of a restart in place", func() {
	It("P60: is filled in, and a replacement by the original manifest changes nothing", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(written(nil))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.Warnings).To(BeEmpty())
		Expect(js.Spec.FailurePolicy.InPlaceRestart).To(HaveValue(Equal(inProcess)))
		Expect(u.replaces(written(nil))).To(Succeed())
		after := &jobset.JobSet{}
		Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), after)).To(Succeed())
		Expect(after.Spec).To(Equal(js.Spec))
	})

	It("P60: is Process with the grace of a kubelet, if it is asked for", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(processes(nil))
		Expect(js.Spec.FailurePolicy.InPlaceRestart).To(HaveValue(Equal(inProcess)))
		Expect(u.Warnings).To(BeEmpty())
	})

	It("P60: is Container where a container keeps processes from restarting alone, which is told with container and reason", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(processes(func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart = nil
			PodTemplate(js, 0).Spec.Containers[0].Command = nil
			PodTemplate(js, 0).Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"look"}}}}
		}))
		Expect(js.Spec.FailurePolicy.InPlaceRestart).To(HaveValue(Equal(jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode})))
		const because = "spec.failurePolicy.inPlaceRestart.mode: is Container, with which a restart takes seconds longer than with Process: " + jobPath + "template.spec.containers[0]"
		Expect(u.Warnings).To(ConsistOf(
			HavePrefix(because+".command of container worker is missing"), HavePrefix(because+".livenessProbe of container worker would act on")))
	})

	It("P60: is Container, without a word, where the manifest brings the agent", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(Training(2, 10))
		Expect(js.Spec.FailurePolicy.InPlaceRestart).To(HaveValue(Equal(jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode})))
		Expect(u.Warnings).To(BeEmpty())
	})

	It("P60: is refused where it is not possible, with every reason and its place", func(ctx SpecContext) {
		js := processes(func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.HostPID = true
			PodTemplate(js, 0).Spec.Containers[0].Command = nil
			js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes = []int32{65}
		})
		ofWebhook(newUser(ctx).refuses(js),
			invalid("spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[0]", "is the exit code by which a supervisor asks for a new Pod"),
			invalid(jobPath+"template.spec.hostPID", "makes processes of other containers look like those of the worker"),
			required(jobPath+"template.spec.containers[0].command", "write the entrypoint of the image here, or use mode Container"))
	})

	DescribeTable("P60 P142: refuses settings that nobody reads, and values that nobody knows", func(ctx SpecContext, policy map[string]any, says string) {
		_, err := newUser(ctx).sends(written(restarting(policy)))
		Expect(err).To(MatchError(ContainSubstring(says)))
	},
		Entry("a mode that does not exist", map[string]any{"mode": "Pod"}, `spec.failurePolicy.inPlaceRestart.mode: Unsupported value: "Pod": supported values: "Process", "Container"`),
		Entry("a grace in container mode", map[string]any{"mode": "Container", "stopGracePeriodSeconds": 5}, "spec.failurePolicy.inPlaceRestart.stopGracePeriodSeconds: Forbidden: is read only when"),
		Entry("a negative grace", map[string]any{"mode": "Process", "stopGracePeriodSeconds": -1}, "stopGracePeriodSeconds in body should be greater than or equal to 0"),
		Entry("a grace of more than an hour", map[string]any{"mode": "Process", "stopGracePeriodSeconds": 3601}, "stopGracePeriodSeconds in body should be less than or equal to 3600"),
		Entry("a planned stop in no time", map[string]any{"mode": "Process", "plannedStopGracePeriodSeconds": 0}, "plannedStopGracePeriodSeconds in body should be greater than or equal to 1"),
		Entry("a planned stop of more than five minutes", map[string]any{"mode": "Process", "plannedStopGracePeriodSeconds": 301}, "plannedStopGracePeriodSeconds in body should be less than or equal to 300"),
		Entry("a planned stop by a signal that is never sent", map[string]any{"mode": "Process", "plannedStopGracePeriodSeconds": 9, "plannedStopSignal": "KILL"}, `supported values: "TERM", "USR1", "USR2"`),
	)

})

var _ = Describe("A Job in process mode", func() {
	DescribeTable("P61: is one that the API server takes", func(ctx SpecContext, change func(js *jobset.JobSet)) {
		needs(testcluster.RestartRules, "restart rules of containers")
		u := newUser(ctx)
		js := processes(change)
		js = u.admits(js)

		job := children.NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Job(&js.Spec.ReplicatedJobs[0], 0)
		job.OwnerReferences = nil
		sent := job.DeepCopy()
		Expect(u.Client.Create(ctx, job, client.DryRunAll)).To(Succeed())

		// A server that drops fields would leave workers that never start again.
		Expect(job.Spec.Template.Spec.Containers[0].RestartPolicyRules).To(Equal(sent.Spec.Template.Spec.Containers[0].RestartPolicyRules))
		Expect(job.Spec.Template.Spec.Containers[0].RestartPolicy).To(HaveValue(Equal(corev1.ContainerRestartPolicyNever)))
	},
		Entry("as it is", nil),
		Entry("with codes for a new Pod", func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes = []int32{42, 43}
		}),
		Entry("with a podFailurePolicy that leaves few codes", func(js *jobset.JobSet) {
			JobTemplate(js, 0).PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{1, 65, 137},
				},
			}}}
		}),
		Entry("on the network of the node", func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.HostNetwork = true }),
	)

	It("P54 P61: passes Pod Security restricted where its worker does", func(ctx SpecContext) {
		u := newRestrictedUser(ctx)
		js := processes(func(js *jobset.JobSet) {
			pod := &PodTemplate(js, 0).Spec
			pod.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
			pod.Containers[0].SecurityContext = &corev1.SecurityContext{
				RunAsNonRoot: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}
		})
		js = u.admits(js)
		job := children.NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Job(&js.Spec.ReplicatedJobs[0], 0)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.Space, Name: "worker"}, Spec: job.Spec.Template.Spec}
		Expect(u.Client.Create(ctx, pod, client.DryRunAll)).To(Succeed())
	})
})

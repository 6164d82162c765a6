/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withToken is an agent that can talk to the API server.
func withToken(agent corev1.Container) corev1.Container {
	agent.VolumeMounts = append(agent.VolumeMounts, corev1.VolumeMount{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
	return agent
}

func TestWhatKeepsAgentsFromWorking(t *testing.T) {
	t.Parallel()
	const (
		withheld = "ValidatingAdmissionPolicy jobset-agent is missing: the controller grants agents no right to patch Pods"
		foreign  = "Role research/jobset-agent-train-uid does not belong to this JobSet and is left alone, so its agents get no rights: delete it"
		old      = "workers do not restart in place on nodes that ignore RestartAllContainers; upgrade them: node-1 (kubelet v1.35.0) (1 in all)"
	)
	failed, oldNodes := event(ago(time.Minute), "AgentAccessFailed", foreign), event(ago(time.Minute), "RestartAllContainersUnsupported", old)
	tests := map[string]struct {
		deprecated, synced int32
		denied             bool
		events             []corev1.Event
		want               []string
	}{
		"P58: nothing":                                    {0, 0, false, nil, nil},
		"P58: no policy, so no grant":                     {0, 0, true, nil, []string{"agents: " + withheld}},
		"P58: it is told while the group runs as well":    {0, 1, true, nil, []string{"agents: " + withheld}},
		"P58: a grant that failed":                        {0, 0, false, []corev1.Event{failed}, []string{"agents: " + foreign}},
		"P58: a grant that failed once, and a group runs": {0, 1, false, []corev1.Event{failed}, nil},
		"C94a: a Service of somebody else":                {0, 1, false, []corev1.Event{event(ago(time.Minute), "HostNamesMissing", "Service ring selects others")}, []string{"host names: Service ring selects others"}},
		"P58: nodes that are too old":                     {0, 1, false, []corev1.Event{oldNodes}, []string{"agents: " + old}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := training(1, 1, tc.deprecated, tc.synced)
			if tc.denied {
				w.Condition(jobset.JobSetAgentAccessDenied, true, "AgentAccessWithheld", withheld, ago(time.Minute))
			}
			in := running(w.Obj(), 1)
			in.Events = tc.events
			if diff := cmp.Diff(Notes(tc.want), Of(in).Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatKeepsAnAgentFromWorking(t *testing.T) {
	t.Parallel()
	agent := workerpod.Agent(workerpod.Options{})
	byFile := workerpod.Agent(workerpod.Options{})
	byFile.Env = append(byFile.Env, corev1.EnvVar{Name: "KUBECONFIG", Value: "/kubeconfig"})
	pulls := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}
	tests := map[string]struct {
		agent    corev1.Container
		state    corev1.ContainerState
		byAuthor bool // of the template
		want     string
	}{
		"P58: no token is mounted": {agent: agent, state: runs(),
			want: "no token is mounted into its agent at /var/run/secrets/kubernetes.io/serviceaccount, so it cannot report"},
		"P58: a token is mounted, so its log says more": {agent: withToken(agent), state: runs(),
			want: "runs, its agent has not reported an epoch; see: kubectl logs train-workers-0-0 -c jobset-agent"},
		"P58: a kubeconfig is as good as a token": {agent: byFile, state: runs(),
			want: "runs, its agent has not reported an epoch; see: kubectl logs train-workers-0-0 -c jobset-agent"},
		"P58: the image that the manager names cannot be pulled": {agent: withToken(agent), state: pulls,
			want: "container jobset-agent: ImagePullBackOff, not found; agents get their image from inPlaceRestart.agentImage in the configuration of the manager"},
		"P58: the image that the template names cannot be pulled": {agent: withToken(agent), state: pulls, byAuthor: true,
			want: "container jobset-agent: ImagePullBackOff, not found"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := training(1, 1, 0, 0).Obj()
			if tc.byAuthor {
				js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.InitContainers = []corev1.Container{tc.agent}
			}
			in := running(js, 1)
			pod := podOf(t, &in, 0, 0)
			delete(pod.Annotations, jobset.EpochKey)
			pod.Spec.InitContainers = []corev1.Container{tc.agent}
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "jobset-agent", State: tc.state}}
			if got := Of(in).Workers.Missing[0].Message; got != tc.want {
				t.Errorf("message is %q, want %q", got, tc.want)
			}
		})
	}
}

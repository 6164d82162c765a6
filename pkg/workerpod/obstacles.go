/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"fmt"
	"path"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Obstacle is a field of a JobSet that process mode cannot work with.
type Obstacle struct {
	Path *field.Path
	// Value of the field; nil if it is missing.
	Value any
	// Container is where it is; empty for fields of the Pod.
	Container string
	// OwnAgent: the author has chosen how the Pod restarts.
	OwnAgent bool
	// Reason is a clause about the field, and Fix an imperative.
	Reason, Fix string
}

// Obstacles returns what keeps the Pods of a JobSet from process mode (P60).
func Obstacles(js *jobset.JobSet) []Obstacle {
	spec := field.NewPath("spec")
	var out []Obstacle
	if at := slices.Index(RecreatePodOn(js.Spec.FailurePolicy), protocol.ExitLeave); at >= 0 {
		out = append(out, Obstacle{Path: spec.Child("failurePolicy", "inPlaceRestart", "recreatePodOnExitCodes").Index(at), Value: protocol.ExitLeave,
			Reason: "is the exit code by which a supervisor asks for a new Pod", Fix: "let the worker exit with another code"})
	}
	for i := range js.Spec.ReplicatedJobs {
		out = append(out, jobObstacles(spec.Child("replicatedJobs").Index(i).Child("template", "spec"), &js.Spec.ReplicatedJobs[i].Template.Spec)...)
	}
	for i := range js.Spec.VolumeClaimPolicies {
		templates := spec.Child("volumeClaimPolicies").Index(i).Child("templates")
		for j := range js.Spec.VolumeClaimPolicies[i].Templates {
			name := js.Spec.VolumeClaimPolicies[i].Templates[j].Name
			out = append(out, reserved(templates.Index(j).Child("metadata", "name"), name, "claim")...)
		}
	}
	return out
}

// jobObstacles returns only the agent of a template that brings one: nothing is added there.
func jobObstacles(path *field.Path, job *batchv1.JobSpec) []Obstacle {
	pod := path.Child("template", "spec")
	spec := &job.Template.Spec
	var out []Obstacle
	for i := range spec.InitContainers {
		c, path := &spec.InitContainers[i], pod.Child("initContainers").Index(i)
		if bringsAgent(c) {
			return []Obstacle{{Path: path, Value: c.Name, OwnAgent: true,
				Reason: "is an agent, which restarts containers", Fix: "remove it, since an agent is added to templates without one"}}
		}
		out = append(out, reserved(path.Child("name"), c.Name, "container")...)
	}
	out = append(out, podObstacles(pod, spec)...)
	for i := range spec.Containers {
		for _, o := range containerObstacles(pod.Child("containers").Index(i), &spec.Containers[i]) {
			o.Container = spec.Containers[i].Name
			out = append(out, o)
		}
	}
	return append(out, leaveObstacles(path.Child("podFailurePolicy", "rules"), job)...)
}

const takenBySupervisor = "is reserved for the supervisor"

// reserved are the names of what is added (P61).
func reserved(path *field.Path, name, what string) []Obstacle {
	if name != SupervisorName {
		return nil
	}
	return []Obstacle{{Path: path, Value: name, Reason: takenBySupervisor, Fix: "rename this " + what}}
}

func podObstacles(path *field.Path, spec *corev1.PodSpec) []Obstacle {
	const foreign = "makes processes of other containers look like those of the worker"
	var out []Obstacle
	if ptr.Deref(spec.ShareProcessNamespace, false) {
		out = append(out, Obstacle{Path: path.Child("shareProcessNamespace"), Value: true, Reason: foreign, Fix: "remove it"})
	}
	if spec.HostPID {
		out = append(out, Obstacle{Path: path.Child("hostPID"), Value: true, Reason: foreign, Fix: "remove it"})
	}
	for _, windows := range WindowsFields(path, spec) {
		out = append(out, Obstacle{Path: windows, Value: string(corev1.Windows), Reason: "asks for Windows, for which there is no supervisor", Fix: "use Linux"})
	}
	for i := range spec.Volumes {
		out = append(out, reserved(path.Child("volumes").Index(i).Child("name"), spec.Volumes[i].Name, "volume")...)
	}
	return out
}

// WindowsFields returns the fields of a Pod that ask for Windows.
func WindowsFields(pod *field.Path, spec *corev1.PodSpec) []*field.Path {
	var out []*field.Path
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		out = append(out, pod.Child("os", "name"))
	}
	if spec.NodeSelector[corev1.LabelOSStable] == string(corev1.Windows) {
		out = append(out, pod.Child("nodeSelector").Key(corev1.LabelOSStable))
	}
	return out
}

func containerObstacles(path *field.Path, c *corev1.Container) []Obstacle {
	var out []Obstacle
	add := func(there bool, name string, value any, reason, fix string) {
		if there {
			out = append(out, Obstacle{Path: path.Child(name), Value: value, Reason: reason, Fix: fix})
		}
	}
	const (
		interactive = "hands a terminal to one process, and every restart has a new one"
		probed      = "would act on a worker that waits for its group"
		kubelet     = "controls how the container restarts, and here the supervisor does that"
	)
	add(len(c.Command) == 0, "command", nil,
		"is missing: the supervisor starts the worker, and the entrypoint of the image is not known here", "write the entrypoint of the image here")
	add(c.TTY, "tty", true, interactive, "remove it")
	add(c.Stdin, "stdin", true, interactive, "remove it")
	add(c.LivenessProbe != nil, "livenessProbe", field.OmitValueType{}, probed, "remove it")
	add(c.StartupProbe != nil, "startupProbe", field.OmitValueType{}, probed, "remove it")
	if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		out = append(out, Obstacle{Path: path.Child("lifecycle", "postStart"), Value: field.OmitValueType{}, Reason: probed, Fix: "remove it"})
	}
	never := corev1.ContainerRestartPolicyNever
	add(ptr.Deref(c.RestartPolicy, never) != never, "restartPolicy", c.RestartPolicy, kubelet, "remove it")
	add(len(c.RestartPolicyRules) > 0, "restartPolicyRules", field.OmitValueType{}, kubelet, "remove it")
	out = append(out, stopSignalObstacles(path, c)...)
	return append(out, takenByWorker(path, c)...)
}

// takenByWorker is what a worker has that a supervised one gets (P61).
func takenByWorker(base *field.Path, c *corev1.Container) []Obstacle {
	out := reserved(base.Child("name"), c.Name, "container")
	for i := range c.VolumeMounts {
		if at := path.Clean("/" + c.VolumeMounts[i].MountPath); at == protocol.Dir || strings.HasPrefix(at, protocol.Dir+"/") {
			out = append(out, Obstacle{Path: base.Child("volumeMounts").Index(i).Child("mountPath"), Value: c.VolumeMounts[i].MountPath,
				Reason: takenBySupervisor + ", with everything in " + protocol.Dir, Fix: "mount it elsewhere"})
		}
	}
	for i := range c.Env {
		if slices.Contains(reservedEnv, c.Env[i].Name) {
			out = append(out, Obstacle{Path: base.Child("env").Index(i).Child("name"), Value: c.Env[i].Name,
				Reason: takenBySupervisor, Fix: "rename this variable"})
		}
	}
	return out
}

// leaveObstacles are rules for the exit code by which a supervisor asks for a new Pod (P70).
func leaveObstacles(path *field.Path, job *batchv1.JobSpec) []Obstacle {
	var out []Obstacle
	failures := NewPodFailures(job.PodFailurePolicy)
	for i := range job.Template.Spec.Containers {
		rule := failures.ActsOn(job.Template.Spec.Containers[i].Name, protocol.ExitLeave)
		if rule < 0 {
			continue
		}
		values := path.Index(rule).Child("onExitCodes", "values")
		obstacle := Obstacle{Path: values, Value: field.OmitValueType{},
			Reason: fmt.Sprintf("make the rule act on exit code %d, by which a supervisor asks for a new Pod", protocol.ExitLeave),
			Fix:    fmt.Sprintf("let the rule leave %d alone", protocol.ExitLeave)}
		if len(out) == 0 || out[len(out)-1].Path.String() != values.String() {
			out = append(out, obstacle)
		}
	}
	return out
}

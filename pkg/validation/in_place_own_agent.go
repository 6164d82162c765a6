/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// minBarrierSeconds is how long a barrier must hold at least: waiting
// for nodes or images takes longer than an ordinary startup probe allows.
const minBarrierSeconds = 3600

// agentVariables reports missing variables without which the agent exits with 64. What
// envFrom sets is not known here.
func agentVariables(path *field.Path, c *corev1.Container) field.ErrorList {
	if len(c.EnvFrom) > 0 {
		return nil
	}
	var missing []string
	for _, env := range workerpod.Agent(workerpod.Options{}).Env {
		if env.Name != workerpod.JobSetUIDEnv && workerpod.FindEnv(c, env.Name) < 0 {
			missing = append(missing, fmt.Sprintf("%s (fieldRef %s)", env.Name, env.ValueFrom.FieldRef.FieldPath))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return field.ErrorList{field.Required(path, fmt.Sprintf("the agent requires %s; add them", strings.Join(missing, ", ")))}
}

// barrierProbe requires a probe that requests our barrier, for as long as a group may take.
func barrierProbe(path *field.Path, c *corev1.Container) field.ErrorList {
	probe := c.StartupProbe
	if probe == nil {
		return nil // agentProblems reports that
	}
	port, known, err := workerpod.BarrierPort(c)
	if err != nil {
		i := workerpod.FindEnv(c, workerpod.BarrierPortEnv)
		return field.ErrorList{field.Invalid(path.Child("env").Index(i).Child("value"), c.Env[i].Value, err.Error())}
	}
	path = path.Child("startupProbe")
	if probe.HTTPGet == nil {
		return field.ErrorList{field.Required(path.Child("httpGet"), "the barrier answers HTTP requests only, "+because+"; "+startupProbe)}
	}
	var errs field.ErrorList
	if !workerpod.ServesBarrierAt(probe.HTTPGet.Path) {
		errs = append(errs, field.Invalid(path.Child("httpGet", "path"), probe.HTTPGet.Path,
			fmt.Sprintf("the barrier is served at %s %s; %s", workerpod.BarrierPath, because, startupProbe)))
	}
	if s := probe.HTTPGet.Scheme; s != "" && s != corev1.URISchemeHTTP {
		errs = append(errs, field.Invalid(path.Child("httpGet", "scheme"), s, "the barrier speaks plain HTTP; "+startupProbe))
	}
	if asked, found := probedPort(c); known && (!found || asked != port) {
		errs = append(errs, field.Invalid(path.Child("httpGet", "port"), probe.HTTPGet.Port.String(),
			fmt.Sprintf("the barrier is served on port %d, which %s sets (default %d); use that port",
				port, workerpod.BarrierPortEnv, workerpod.DefaultBarrierPort)))
	}
	return append(errs, barrierTime(path, probe)...)
}

// barrierTime checks how long the probe may fail, with the defaults that Kubernetes sets later.
func barrierTime(path *field.Path, probe *corev1.Probe) field.ErrorList {
	period, threshold := cmp.Or(probe.PeriodSeconds, 10), cmp.Or(probe.FailureThreshold, 3)
	if held := int64(period) * int64(threshold); held < minBarrierSeconds {
		return field.ErrorList{field.Invalid(path.Child("failureThreshold"), probe.FailureThreshold, fmt.Sprintf(
			"failureThreshold times periodSeconds must be at least %d seconds and is %d: after that the kubelet kills the agent, "+
				"and with it a group that waits for its last worker; %s", minBarrierSeconds, held, startupProbe))}
	}
	return nil
}

// probedPort returns the number of the probed port, which may be given by name.
func probedPort(c *corev1.Container) (int32, bool) {
	port := c.StartupProbe.HTTPGet.Port
	if port.Type == intstr.Int {
		return port.IntVal, true
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort, true
		}
	}
	number, err := strconv.ParseUint(port.StrVal, 10, 16)
	return int32(number), err == nil
}

// inPlaceToken refuses a Pod in which our agent has no credentials.
func inPlaceToken(js *jobset.JobSet, i int) field.ErrorList {
	spec := podSpec(js, i)
	if automount := spec.AutomountServiceAccountToken; automount == nil || *automount || !needsToken(spec) {
		return nil
	}
	return field.ErrorList{field.Invalid(podPath(i).Child("automountServiceAccountToken"), false, fmt.Sprintf(
		"leaves the agent without a token %s, so that it can never report: remove the field, or mount a projected volume "+
			"with a token, kube-root-ca.crt and the namespace into the agent at %s", because, workerpod.TokenPath))}
}

// needsToken reports whether our agent is in the Pod and has no credentials of its own.
func needsToken(spec *corev1.PodSpec) bool {
	agent := workerpod.AgentOf(spec)
	return agent != nil && workerpod.FindEnv(agent, workerpod.KubeconfigEnv) < 0 && len(agent.EnvFrom) == 0 && !mountsToken(agent)
}

func mountsToken(c *corev1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(mount corev1.VolumeMount) bool {
		return strings.TrimSuffix(mount.MountPath, "/") == workerpod.TokenPath
	})
}

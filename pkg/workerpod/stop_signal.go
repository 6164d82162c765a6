/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Real-time signals, as runtimes of containers count them on Linux.
const firstRealTime, lastRealTime = 34, 64

// stopSignals are signals that end a container if its template says so (P69b), and that supervisors can pass on; those that end each
// container are 0, and so is KILL, which nobody passes on.
var stopSignals = map[corev1.Signal]int{
	corev1.SIGTERM: 0, corev1.SIGINT: 0, corev1.SIGQUIT: 0, corev1.SIGKILL: 0,
	corev1.SIGHUP: 1, corev1.SIGUSR1: 10, corev1.SIGUSR2: 12, corev1.SIGALRM: 14, corev1.SIGSTKFLT: 16, corev1.SIGCONT: 18, corev1.SIGTSTP: 20,
	corev1.SIGTTIN: 21, corev1.SIGTTOU: 22, corev1.SIGXCPU: 24, corev1.SIGXFSZ: 25, corev1.SIGVTALRM: 26, corev1.SIGWINCH: 28,
	corev1.SIGIO: 29, corev1.SIGPOLL: 29, corev1.SIGPWR: 30, corev1.SIGRTMAX: lastRealTime,
}

// stopSignal returns the number of a signal that its supervisor has to be told, 0 if it knows it. Not all can be passed on.
func stopSignal(name corev1.Signal) (number int, ok bool) {
	if number, ok = stopSignals[name]; ok {
		return number, true
	}
	if text, is := strings.CutPrefix(string(name), "SIGRTMIN+"); is {
		above, err := strconv.Atoi(text)
		number, ok = firstRealTime+above, err == nil
	} else if text, is := strings.CutPrefix(string(name), "SIGRTMAX-"); is {
		below, err := strconv.Atoi(text)
		number, ok = lastRealTime-below, err == nil
	}
	return number, ok && number > firstRealTime && number <= lastRealTime
}

// stopSignalEnv tells a supervisor by which signal the kubelet ends its container.
func stopSignalEnv(c *corev1.Container) []corev1.EnvVar {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return nil
	}
	number, _ := stopSignal(*c.Lifecycle.StopSignal)
	if number == 0 {
		return nil
	}
	return []corev1.EnvVar{{Name: protocol.StopSignalEnv, Value: strconv.Itoa(number)}}
}

// stopSignalObstacles are signals that a supervisor does not hear, or takes for something else.
func stopSignalObstacles(path *field.Path, c *corev1.Container) []Obstacle {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return nil
	}
	if _, ok := stopSignal(*c.Lifecycle.StopSignal); ok {
		return nil
	}
	return []Obstacle{{Path: path.Child("lifecycle", "stopSignal"), Value: string(*c.Lifecycle.StopSignal),
		Reason: "is a signal that the supervisor cannot pass on", Fix: "set one that programs handle, such as SIGTERM or SIGUSR1"}}
}

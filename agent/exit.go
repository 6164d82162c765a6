/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"cmp"
	"errors"
	"syscall"

	"sigs.k8s.io/jobset/supervisor/setting"
)

// The exit codes of an agent, besides the restart exit code, which is a setting. With the
// rules of the documented sidecar every code but 64 restarts the Pod in place; in process mode every code restarts the agent alone.
// exitSignal plus the number of a signal: the agent was told to stop.
const exitSignal = 128

// stopSignal is the cause of a context that a signal cancelled.
type stopSignal struct{ signal syscall.Signal }

func (s stopSignal) Error() string { return "stopped by signal: " + s.signal.String() }

// exitCode returns the exit code of an agent.
//
// An unexpected error has the restart code too, since every Pod template must have a rule for that
// code. With a code that no rule matches, the agent would start again beside an older
// worker and report an epoch that this worker is not in.
func exitCode(cfg Config, outcome Outcome, err error) int {
	var wrong *setting.Error
	var stopped stopSignal
	switch {
	case errors.As(err, &wrong):
		// The kubelet restarts only the agent, with its usual backoff, which restarts in place do not have.
		return setting.ExitCode
	case err == nil && outcome.Kind == Stopped && errors.As(outcome.Cause, &stopped):
		return exitSignal + int(stopped.signal)
	case err == nil && outcome.Kind == Stopped:
		return exitSignal + int(syscall.SIGTERM)
	}
	return cmp.Or(cfg.RestartExitCode, defaultRestartExitCode)
}

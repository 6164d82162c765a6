/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"syscall"
)

// The exit codes of an agent, beside the restart exit code, which is a setting. In the Pod
// shape of sidecar mode every code but 64 restarts the Pod in place.
const (
	// exitSetting: a setting is wrong, which a restart does not mend. The kubelet restarts
	// the agent alone, with its ordinary backoff, which restarts in place do not have.
	exitSetting = 64
	// exitSignal plus the number of a signal: the agent was told to stop.
	exitSignal = 128
)

// stopSignal is the cause of a context that a signal ended.
type stopSignal struct{ signal syscall.Signal }

func (s stopSignal) Error() string { return "stopped by signal: " + s.signal.String() }

// exitCode is the one place where the end of an agent becomes a number.
//
// An error that nobody expected has the restart code too, not one of its own: it is the one
// code that every Pod shape must cover. With a code that no rule matches, the agent would
// start again beside an older worker and report an epoch that this worker is not in.
func exitCode(cfg Config, outcome Outcome, err error) int {
	var setting *SettingError
	var stopped stopSignal
	switch {
	case errors.As(err, &setting):
		return exitSetting
	case err == nil && outcome.Kind == Stopped && errors.As(outcome.Cause, &stopped):
		return exitSignal + int(stopped.signal)
	case err == nil && outcome.Kind == Stopped:
		return exitSignal + int(syscall.SIGTERM)
	case cfg.RestartExitCode == 0:
		return defaultRestartExitCode
	}
	return cfg.RestartExitCode
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
)

const (
	maxExitCode = 255
	// lastSignal is the highest number of a signal on Linux.
	lastSignal = 64
)

// These are variables only for tests of real processes. A program that opens its gate and fails within standbyDelay is
// not worth a second one beside it.
var (
	killTimeout  = 10 * time.Second
	standbyDelay = 30 * time.Second
)

// Settings of a supervisor. Package workerpod writes them into the Pod template.
type Settings struct {
	// Dir is the volume that the containers of the Pod share.
	Dir string
	// Container is the name of the supervisor's container.
	Container string
	// KillTimeout is how long a process may outlive SIGKILL before the Pod is given up (P63).
	KillTimeout time.Duration
	// Pass holds the exit codes that Kubernetes acts on (P68).
	Pass ExitCodes
	// StopSignal ends the container as TERM does (P69b); 0 if no other does.
	StopSignal syscall.Signal
	// Variables are set at each start of the worker (P120).
	Variables []Variable
	// WarmStart: a standby waits for the next start (P160); StandbyDelay is how long after the program opened its gate
	// it is started.
	WarmStart    bool
	StandbyDelay time.Duration
}

// own returns the path of a file of this container (P61a).
func (s Settings) own(name string) string {
	path := protocol.OwnFile(s.Dir, s.Container, name)
	if info, err := os.Stat(filepath.Dir(path)); err == nil && info.IsDir() {
		return path
	}
	return protocol.SharedFile(s.Dir, s.Container, name)
}

// ExitCodes is a set of exit codes.
type ExitCodes [maxExitCode + 1]bool

// FromEnv reads Settings. The error joins one setting.Error per wrong variable.
func FromEnv(lookup func(string) (string, bool)) (Settings, error) {
	env := environment{setting.Env{Lookup: lookup}}
	s := Settings{
		Dir:         env.dir(),
		Container:   env.container(),
		KillTimeout: killTimeout,
		Pass:        env.exitCodes(),
		StopSignal:  syscall.Signal(env.Number(protocol.StopSignalEnv, 0, 1, lastSignal)),
		Variables:   env.variables(),
	}
	if env.Get(protocol.WarmStartEnv) == protocol.WarmStartOn {
		s.WarmStart, s.StandbyDelay = true, standbyDelay
	}
	return s, env.Err()
}

// environment reads what only a supervisor has.
type environment struct{ setting.Env }

func (e *environment) dir() string {
	return cmp.Or(e.Directory(protocol.DirEnv, protocol.Socket, protocol.MaxSocketPath,
		"set the path where the container mounts the volume that it shares with the agent"), protocol.Dir)
}

// container becomes a part of a file name, so only what may be the name of a container passes.
func (e *environment) container() string {
	name := e.Get(protocol.ContainerEnv)
	if name == "" {
		e.Reject(protocol.ContainerEnv, "is not set", "set it to the name of the container")
		return ""
	}
	if len(name) > 63 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		e.Reject(protocol.ContainerEnv, fmt.Sprintf("is %q, which cannot be the name of a container", name), "set it to the name of the container")
	}
	return name
}

func (e *environment) exitCodes() ExitCodes {
	var codes ExitCodes
	text := e.Get(protocol.PassExitCodesEnv)
	if text == "" {
		return codes
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || low < 1 || high > maxExitCode || low > high {
			e.Reject(protocol.PassExitCodesEnv, fmt.Sprintf("has %q", part), fmt.Sprintf(`set exit codes from 1 to %d and ranges of them, such as "3,40-49"`, maxExitCode))
			continue
		}
		for code := low; code <= high; code++ {
			codes[code] = true
		}
	}
	return codes
}

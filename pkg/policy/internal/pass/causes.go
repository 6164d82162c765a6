/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"fmt"
	"slices"
	"strings"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Cause returns the failure as the status records it.
func (f *Failure) Cause() jobset.RestartCause {
	c := jobset.RestartCause{Pod: f.Pod, Node: f.Node, Reason: f.Reason}
	switch {
	case f.Deleted:
		c.Type = jobset.CauseDeleted
	case f.NoSandbox:
		c.Type = jobset.CauseSandboxLost
	case f.Replaced != "":
		c.Type, c.Reason = jobset.CauseCannotRestart, f.Replaced
	case f.Hang.Hung():
		c.Type, c.Container, c.SilentSeconds, c.Step = jobset.CauseNeverSigned, f.Container, f.Hang.SilentSeconds, f.Hang.Step
		if f.Hang.Triggered {
			c.Type = jobset.CauseTriggered
		} else if f.Hang.Signed {
			c.Type = jobset.CauseSilent
		}
	case f.Container == "":
		c.Type = jobset.CauseFailed
	default:
		c.Type, c.Container, c.ExitCode = jobset.CauseExited, f.Container, f.ExitCode
	}
	return c
}

// String names what failed, how, and on which node.
func (f *Failure) String() string {
	c := f.Cause()
	return CauseText(&c)
}

// CauseText is the cause of a restart in words, wherever they are read: in conditions, events, the plugin and the dashboard.
func CauseText(c *jobset.RestartCause) string {
	if c.Job != "" && c.Pod != "" {
		return fmt.Sprintf("Job %s failed: %s", c.Job, causeText(c))
	}
	return causeText(c)
}

func causeText(c *jobset.RestartCause) string {
	var what string
	switch worker := fmt.Sprintf("container %s of worker pod %s", c.Container, c.Pod); c.Type {
	case jobset.CauseExited:
		what = fmt.Sprintf("%s exited with code %d%s", worker, c.ExitCode, Parenthesized(signal(c.ExitCode), unlessGeneric(c.Reason)))
	case jobset.CauseSilent, jobset.CauseNeverSigned, jobset.CauseTriggered:
		what = fmt.Sprintf("%s hung: %s", worker, protocol.Hang{SilentSeconds: c.SilentSeconds, Signed: c.Type == jobset.CauseSilent,
			Step: c.Step, Triggered: c.Type == jobset.CauseTriggered})
	case jobset.CauseDeleted:
		what = fmt.Sprintf("worker pod %s was deleted%s", c.Pod, Parenthesized(c.Reason))
	case jobset.CauseFailed:
		what = fmt.Sprintf("worker pod %s failed%s", c.Pod, Parenthesized(c.Reason))
	case jobset.CauseSandboxLost:
		return fmt.Sprintf("worker pod %s lost its sandbox: node %s restarted, or the runtime of the Pod was killed", c.Pod, c.Node)
	case jobset.CauseCannotRestart:
		what = fmt.Sprintf("worker pod %s could not restart in place (%s)", c.Pod, c.Reason)
	case jobset.CauseUnseen:
		return fmt.Sprintf("worker pod %s restarted, its exit code was not seen", c.Pod)
	case jobset.CauseLost:
		return fmt.Sprintf("a worker pod of Job %s failed, was deleted or did not stop in time", c.Job)
	case jobset.CauseJobFailed:
		what = fmt.Sprintf("Job %s failed%s", c.Job, Parenthesized(c.Reason))
	default:
		return c.Message
	}
	if c.Node == "" {
		return what
	}
	return what + " on node " + c.Node
}

// signal names the signal that ended a process: its exit code is 128 plus the number of the signal.
func signal(code int32) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	return fmt.Sprintf("signal %d", code-128)
}

// unlessGeneric leaves out the reason that every exit code other than 0 has.
func unlessGeneric(reason string) string {
	if reason == "Error" {
		return ""
	}
	return reason
}

// Parenthesized appends the words that are not empty to a sentence.
func Parenthesized(words ...string) string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// OtherCause is one that has no fields of its own.
func OtherCause(message string) jobset.RestartCause {
	return jobset.RestartCause{Type: jobset.CauseOther, Message: message}
}

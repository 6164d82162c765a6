/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"
)

// causeOf says, for the user, why the group breaks: what failed first, if that was
// seen, else what the group shows now.
func causeOf(first *Failure, g group) string {
	switch {
	case first != nil:
		return first.String()
	case g.reporter != nil:
		return fmt.Sprintf("worker pod %s restarted, its exit code was not seen", g.reporter.Name)
	default:
		return fmt.Sprintf("a worker pod of Job %s failed, was deleted or did not stop in time", g.lost[0].Name)
	}
}

// String names what failed, how, and on which node.
func (f *Failure) String() string {
	var what string
	switch {
	case f.Deleted:
		what = fmt.Sprintf("worker pod %s was deleted%s", f.Pod, inBrackets(f.Reason))
	case f.Container == "":
		what = fmt.Sprintf("worker pod %s failed%s", f.Pod, inBrackets(f.Reason))
	default:
		what = fmt.Sprintf("container %s of worker pod %s exited with code %d%s", f.Container, f.Pod, f.ExitCode,
			inBrackets(signal(f.ExitCode), known(f.Reason)))
	}
	if f.Node == "" {
		return what
	}
	return what + " on node " + f.Node
}

// signal is what ended a process whose exit code is 128 and its number.
func signal(code int32) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	return fmt.Sprintf("signal %d", code-128)
}

// known leaves out the reason that every exit code other than 0 has.
func known(reason string) string {
	if reason == "Error" {
		return ""
	}
	return reason
}

// inBrackets puts what there is of words behind a sentence.
func inBrackets(words ...string) string {
	var there []string
	for _, word := range words {
		if word != "" {
			there = append(there, word)
		}
	}
	if len(there) == 0 {
		return ""
	}
	return " (" + strings.Join(there, ", ") + ")"
}

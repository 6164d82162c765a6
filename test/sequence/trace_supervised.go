/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"strings"
)

// marks shows the containers of a Pod.
func (s *supervised) marks() string {
	var parts []string
	for i := range s.all() {
		c := &s.containers[i]
		known := string(c.knows.state)
		if known == "" {
			known = "unseen"
		}
		parts = append(parts, fmt.Sprintf("%s %s%s", c.mark(), known, c.mail()))
	}
	mark := "[" + strings.Join(parts, "; ") + "]"
	if s.leaveFile {
		mark += "leave"
	}
	return mark
}

// mark shows what a supervisor runs.
func (c *container) mark() string {
	switch {
	case c.over:
		return fmt.Sprintf("exit-%d", c.code)
	case !c.up:
		return "down"
	case c.epoch() < 0:
		return string(c.sup.Phase)
	}
	return fmt.Sprintf("%s%d%s", c.sup.Phase, c.epoch(), c.standby)
}

// mail shows the messages of a connection.
func (c *container) mail() string {
	if !c.linked {
		return " cut"
	}
	text := ""
	for _, m := range c.toAgent.messages[:c.toAgent.n] {
		text += " <" + string(m.kind)
	}
	for _, m := range c.toSup.messages[:c.toSup.n] {
		text += " >" + string(m.kind)
	}
	return text
}

// describeContainer tells of a step of a container, "" if it is another one.
func describeContainer(s step, pod string) string {
	n := containerNames[int(s.n)%maxContainers]
	what := map[stepKind]string{
		containerStarts: "container %s starts", supervisorConnects: "supervisor %s connects", supervisorHears: "supervisor %s hears",
		supervisorTerminated: "the kubelet stops container %s", childStops: "the worker of %s ends as it was told",
		stopTimeEnds: "the time of the stop of %s is over", leftoversGo: "the last process of %s is gone", agentHears: "the agent hears supervisor %s", linkEnds: "the connection of %s ends",
		agentRepeats: "the agent repeats its report (%s)", agentPolls: "the agent looks for files (%s)", stuckForMinute: "%s has been stuck for a minute", agentStrays: "the agent has waited beside %s",
		containersOver: "all containers have ended (%s)", containerDies: "container %s is killed", linkBreaks: "the connection of %s breaks",
		gateOpens: "the worker of %s opens its gate", standbyStarts: "a standby of %s starts", gateReached: "the standby of %s comes to its gate", standbyEnds: "the standby of %s ends early",
		processStays: "a process of %s stays", containerAway: "container %s is away for too long",
	}[s.kind]
	if what == "" {
		return ""
	}
	return pod + ": " + fmt.Sprintf(what, n)
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"strings"
)

const constantsDir = "pkg/constants"

// conditionUse is one state of a condition of a JobSet, by the names of constants.
type conditionUse struct {
	condition, status, reason, when string
}

// conditionUses has every type of condition and every reason that a condition gives.
var conditionUses = []conditionUse{
	{"JobSetCompleted", "True", "AllJobsCompletedReason", "The success policy is satisfied."},

	{"JobSetFailed", "True", "FailedJobsReason", "A Job failed, and there is no failure policy."},
	{"JobSetFailed", "True", "FailJobSetActionReason", "A rule of the failure policy asked for it."},
	{"JobSetFailed", "True", "ReachedMaxRestartsReason", "A restart was due, and `maxRestarts` is used up."},

	{"JobSetSuspended", "True", "SuspendedReason", "`spec.suspend` is true."},
	{"JobSetSuspended", "False", "ResumedReason", "`spec.suspend` is no longer true."},

	{"JobSetStartupPolicyInProgress", "True", "InOrderInProgressReason", "With startup policy `InOrder`: Jobs are still to be created or resumed. Turns False, with the same reason, when the start is complete."},
	{"JobSetStartupPolicyCompleted", "True", "InOrderCompletedReason", "With startup policy `InOrder`: all Jobs have started. Turns False, with the same reason, when Jobs are to be started again."},

	{"JobSetRestarting", "True", "DefaultFailurePolicyReason", "All Jobs are recreated: a Job failed and no rule of the failure policy matched, or the group of workers could not be brought back in place."},
	{"JobSetRestarting", "True", "FailurePolicyRuleReasonPrefix", "All Jobs are recreated because the rule of this name matched."},
	{"JobSetRestarting", "True", "InPlaceRestartReason", "The group of workers restarts in place. The message names the first cause."},
	{"JobSetRestarting", "False", "JobsReadyReason", "All Jobs are ready again, or have succeeded."},
	{"JobSetRestarting", "False", "WorkersSyncedReason", "The whole group of workers stands at the new epoch."},
	{"JobSetRestarting", "False", "RestartingEndedCompletedReason", "The JobSet completed meanwhile."},
	{"JobSetRestarting", "False", "RestartingEndedFailedReason", "The JobSet failed meanwhile."},
	{"JobSetRestarting", "False", "RestartingEndedSuspendedReason", "The JobSet was suspended meanwhile."},

	{"JobSetInPlaceRestartDisabled", "True", "InPlaceRestartDisabledReason", "The JobSet uses `InPlaceRestart` and the feature gate is off. Its agents let their workers run and restart nobody."},
	{"JobSetInPlaceRestartDisabled", "False", "InPlaceRestartEnabledReason", "The feature gate is on again."},
}

// eventUse is an event, by the name of the constant of its reason.
type eventUse struct {
	reason, kind, when string
}

const (
	normal  = "Normal"
	warning = "Warning"
)

// conditionEvents announce a change of a condition, and carry its message.
var conditionEvents = []eventUse{
	{"AllJobsCompletedReason", normal, "`Completed` became True."},
	{"FailedJobsReason", warning, "`Failed` became True: a Job failed, and there is no failure policy."},
	{"FailJobSetActionReason", warning, "`Failed` became True: a rule of the failure policy asked for it."},
	{"ReachedMaxRestartsReason", warning, "`Failed` became True: a restart was due, and `maxRestarts` is used up."},
	{"SuspendedReason", normal, "`Suspended` became True."},
	{"ResumedReason", normal, "`Suspended` became False."},
	{"InOrderInProgressReason", normal, "`StartupPolicyInProgress` became True."},
	{"InOrderCompletedReason", normal, "`StartupPolicyCompleted` became True."},
	{"DefaultFailurePolicyReason", warning, "`RestartingJobSet` became True, or its message changed: all Jobs are recreated, and no rule decided it."},
	{"FailurePolicyRuleReasonPrefix", warning, "`RestartingJobSet` became True, or its message changed: all Jobs are recreated because the rule of this name matched."},
	{"JobsReadyReason", normal, "`RestartingJobSet` became False: all Jobs are ready again."},
	{"RestartingEndedCompletedReason", normal, "`RestartingJobSet` became False: the JobSet completed."},
	{"RestartingEndedFailedReason", normal, "`RestartingJobSet` became False: the JobSet failed."},
	{"RestartingEndedSuspendedReason", normal, "`RestartingJobSet` became False: the JobSet was suspended."},
}

// restartEvents are about restarts that recreate Jobs, one for each time the action is taken.
var restartEvents = []eventUse{
	{"RestartJobSetActionReason", warning, "All Jobs are recreated. Counts towards `maxRestarts`."},
	{"RestartJobSetAndIgnoreMaxRestartsActionReason", warning, "All Jobs are recreated. Does not count."},
	{"RestartJobActionReason", warning, "One Job is recreated. Counts towards `maxRestarts`."},
	{"RestartJobAndIgnoreMaxRestartsActionReason", warning, "One Job is recreated. Does not count."},
}

// inPlaceEvents are about groups of workers that restart in place.
var inPlaceEvents = []eventUse{
	{"InPlaceRestartStartedReason", warning, "The group restarts. The message names the first cause and the epoch that ended."},
	{"InPlaceRestartCompletedReason", normal, "All workers may start. The message names their number, the epoch, and the seconds since the start of the restart."},
	{"InvalidEpochReason", warning, "The epoch annotation of a Pod is no decimal number from 1 to 2147483647, so it counts as not reported. Once per Pod and value."},
	{"WorkersMissingReason", warning, "The group did not come together within `inPlaceRestart.assemblyGracePeriod`. The Pods named have not reported and are deleted, to be recreated."},
	{"ForcefulDeletionReason", warning, "The Pods named are deleted with grace period 0: their node is not ready, and they should have stopped longer ago than `inPlaceRestart.forcefulDeletionGracePeriod`."},
	{"RestartAllContainersUnsupportedReason", warning, "Workers stand on nodes whose kubelet ignores `RestartAllContainers`. They do not restart in place. The message names up to five nodes."},
}

// troubleEvents are about what failed and is tried again.
var troubleEvents = []eventUse{
	{"JobCreationFailedReason", warning, "A Job could not be created. The message is the error of the API server."},
	{"HeadlessServiceCreationFailedReason", warning, "The headless Service could not be created."},
	{"PVCCreationFailedReason", warning, "A PersistentVolumeClaim could not be created, or one of its name is not what the template asks for."},
	{"ViolationReason", warning, "Followers of an exclusive Job were not in the domain of their leader. They are deleted, to be recreated. The event is related to the leader's Pod."},
}

// readReasons reads the packages that declare conditions and reasons. The Messages of
// pkg/constants are found under the name of their Reason.
func readReasons(root string) (api, reasons *source, err error) {
	if api, err = readSource(root, apiDir); err != nil {
		return nil, nil, err
	}
	if reasons, err = readSource(root, constantsDir); err != nil {
		return nil, nil, err
	}
	placement, err := readSource(root, "pkg/placement")
	if err != nil {
		return nil, nil, err
	}
	reasons.consts = append(reasons.consts, placement.consts...)
	return api, reasons, nil
}

func conditionsPage(root string) (map[string]string, error) {
	api, reasons, err := readReasons(root)
	if err != nil {
		return nil, err
	}
	if err := checkReasons(reasons); err != nil {
		return nil, err
	}
	return conditionTables(api, reasons, conditionUses)
}

// conditionTables are the conditions with what they mean, and their states.
func conditionTables(api, reasons *source, uses []conditionUse) (map[string]string, error) {
	types := table{head: []string{"condition", "meaning while True"}}
	known := map[string]*constDecl{}
	for _, c := range api.consts {
		if c.typ != "JobSetConditionType" {
			continue
		}
		if c.comment.text() == "" {
			return nil, fmt.Errorf("%s: constant %s has no comment; add a comment that says what the condition means", api.dir, c.name)
		}
		known[c.name] = c
		types.add(code(c.text()), escape(c.comment.about(c.name)))
	}
	states := table{head: []string{"condition", "status", "reason", "when"}}
	used := map[string]bool{}
	for _, use := range uses {
		condition, reason := known[use.condition], reasons.constant(use.reason)
		if condition == nil || reason == nil {
			return nil, fmt.Errorf("conditionUses in hack/reference/reasons.go has %s with %s, which the code has not; correct it", use.condition, use.reason)
		}
		used[use.condition] = true
		states.add(code(condition.text()), use.status, shownReason(reason), use.when)
	}
	for _, name := range sortedKeys(known) {
		if !used[name] {
			return nil, fmt.Errorf("%s: no state of condition %s is known; add some to conditionUses in hack/reference/reasons.go", api.dir, name)
		}
	}
	return map[string]string{"types": types.String(), "states": states.String()}, nil
}

func eventsPage(root string) (map[string]string, error) {
	_, reasons, err := readReasons(root)
	if err != nil {
		return nil, err
	}
	if err := checkReasons(reasons); err != nil {
		return nil, err
	}
	tables := map[string]string{}
	for name, uses := range map[string][]eventUse{
		"conditions": conditionEvents, "restarts": restartEvents, "inPlace": inPlaceEvents, "troubles": troubleEvents,
	} {
		if tables[name], err = eventTable(reasons, uses); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func eventTable(reasons *source, uses []eventUse) (string, error) {
	events := table{head: []string{"reason", "type", "when"}}
	for _, use := range uses {
		reason := reasons.constant(use.reason)
		if reason == nil {
			return "", fmt.Errorf("the events in hack/reference/reasons.go have %s, which the code has not; remove it", use.reason)
		}
		events.add(shownReason(reason), use.kind, use.when)
	}
	return events.String(), nil
}

// checkReasons fails if a reason of the code is neither that of a condition nor that of an event.
func checkReasons(reasons *source) error {
	used := map[string]bool{}
	for _, use := range conditionUses {
		used[use.reason] = true
	}
	for _, uses := range [][]eventUse{conditionEvents, restartEvents, inPlaceEvents, troubleEvents} {
		for _, use := range uses {
			used[use.reason] = true
		}
	}
	for _, c := range reasons.consts {
		if isReason(c) && !used[c.name] {
			return fmt.Errorf("%s: nothing is known about reason %s; add %s to conditionUses or to an events table in hack/reference/reasons.go",
				reasons.dir, c.text(), c.name)
		}
	}
	return nil
}

func isReason(c *constDecl) bool {
	return strings.HasSuffix(c.name, "Reason") || strings.HasSuffix(c.name, "ReasonPrefix")
}

func shownReason(c *constDecl) string {
	if strings.HasSuffix(c.name, "Prefix") {
		return code(c.text() + "<rule>")
	}
	return code(c.text())
}

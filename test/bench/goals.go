/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Goals are what process mode is for, with reports in Leases (P156). Times are of a machine that shares its cores among all these
// processes, so missing a goal does not fail the benchmark: the report says how far each is.
const (
	goalCPU      = 2.0 // milliseconds of the API server's for each worker
	goalRecreate = 15  // times as long as in Leases
	goalGrowth   = 1.2 // of the time for each worker
	goalPart     = 1.0 // of the time with reports on Pods, at the size from which agents report in Leases
	goalStart    = 1.03
)

// goalSeconds are by the number of workers.
var goalSeconds = map[int]float64{1000: 2, 5000: 12}

// inLeases says whether the agents of a scenario report in Leases.
func (s scenario) inLeases() bool {
	byDefault := s.reports == "" || s.reports == string(configapi.ReportsAuto)
	return s.mode == jobset.ProcessMode && (s.reports == inLeases || byDefault && s.workers >= int(configapi.DefaultLeaseReportsFrom))
}

// goalsOf compares each series in Leases with its goals, by medians.
func goalsOf(all []series) (goals []budget) {
	for _, s := range all {
		if !s.inLeases() {
			continue
		}
		name := func(what string) string {
			return fmt.Sprintf("%s, %d workers in Leases, flow control %s", what, s.workers, onOff(s.flowControl))
		}
		goals = append(goals, atMost(name("milliseconds of the API server's CPU for each worker"), goalCPU, 1000*s.median(perPod(cpuOf(apiServer)))))
		if limit, ok := goalSeconds[s.workers]; ok {
			goals = append(goals, atMost(name("seconds"), limit, s.median(total)))
		}
		if s.flowControl {
			goals = append(goals, atMost(name("requests refused"), 0, s.most(refusedOf(agentClient))))
		}
		for _, other := range all {
			goals = append(goals, compared(name, s, other)...)
		}
	}
	return goals
}

// compared are the goals of a series that say how it is beside another one.
func compared(name func(string) string, s, other series) []budget {
	sameGroup := other.workers == s.workers
	switch {
	case other.strategy == jobset.Recreate && sameGroup && s.workers == besideUpTo && other.limits == tunedLimits.name:
		return []budget{{name("a tuned Recreate takes times as long"), goalRecreate, other.median(total) / s.median(total), true}}
	case other.mode != jobset.ProcessMode || other.flowControl != s.flowControl || other.delays != s.delays:
		return nil
	case !other.inLeases() && sameGroup && s.workers == int(configapi.DefaultLeaseReportsFrom):
		return []budget{atMost(name("time as part of that on Pods"), goalPart, s.median(total)/other.median(total))}
	case other.inLeases() && other.workers == besideUpTo && s.workers > besideUpTo:
		return []budget{atMost(name("time for each worker, times that of 1,000"), goalGrowth, s.median(perPod(total))/other.median(perPod(total)))}
	}
	return nil
}

// goalsOfStarts compare how groups start whose agents report in Leases with those whose agents report on Pods.
func goalsOfStarts(starts []groupStart) (goals []budget) {
	for _, s := range starts {
		for _, other := range starts {
			if !s.inLeases() || other.inLeases() || s.workers != other.workers {
				continue
			}
			name := fmt.Sprintf("start of %d workers in Leases, as part of that on Pods, ", s.workers)
			goals = append(goals, atMost(name+"time", goalStart, s.took.Seconds()/other.took.Seconds()),
				atMost(name+"the API server's CPU", goalStart, s.used.cpu[apiServer]/other.used.cpu[apiServer]))
		}
	}
	return goals
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// maxRuleCodes is how many exit codes the API takes in one restart rule.
const maxRuleCodes = 255

// PodFailures says on which exit codes of which container a podFailurePolicy acts. The policy is read once for all
// containers of a Job: containers times codes times rules take seconds (C383).
type PodFailures struct {
	every failures
	of    map[string]*failures
}

// failures are the rules for one container, or those for every container.
type failures struct {
	// first is the number of the first rule that acts on a code, from 1; 0 if none does.
	first [maxExitCode + 1]int
	// listed are the codes that rules list, each once, ascending.
	listed []int32
	// others: a rule acts on all codes that it does not list.
	others bool
}

// NewPodFailures reads a policy, which may be nil.
func NewPodFailures(policy *batchv1.PodFailurePolicy) *PodFailures {
	p := &PodFailures{of: map[string]*failures{}}
	if policy == nil {
		return p
	}
	for i := range policy.Rules {
		if when := policy.Rules[i].OnExitCodes; when != nil {
			p.rulesFor(when.ContainerName).add(i+1, when)
		}
	}
	p.every.listed = sorted(p.every.listed)
	for _, of := range p.of {
		of.listed = sorted(of.listed)
	}
	return p
}

func (p *PodFailures) rulesFor(container *string) *failures {
	if container == nil {
		return &p.every
	}
	if p.of[*container] == nil {
		p.of[*container] = &failures{}
	}
	return p.of[*container]
}

func (f *failures) add(rule int, when *batchv1.PodFailurePolicyOnExitCodesRequirement) {
	in := when.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn
	acts := codesOf(when.Values, in)
	for code := range acts {
		if acts[code] && f.first[code] == 0 {
			f.first[code] = rule
		}
	}
	if f.others = f.others || !in; in {
		f.listed = append(f.listed, when.Values...)
	}
}

// codesOf returns which exit codes are in a list, or which are not.
func codesOf(values []int32, in bool) (codes [maxExitCode + 1]bool) {
	if !in {
		for code := range codes {
			codes[code] = true
		}
	}
	for _, code := range values {
		if code >= 0 && code <= maxExitCode {
			codes[code] = in
		}
	}
	return codes
}

// ActsOn returns the first rule that acts when a container fails with a code, or -1.
func (p *PodFailures) ActsOn(container string, code int32) int {
	if code < 0 || code > maxExitCode {
		return -1
	}
	first := p.every.first[code]
	if of := p.of[container]; of != nil && of.first[code] > 0 && (first == 0 || of.first[code] < first) {
		first = of.first[code]
	}
	return first - 1
}

// OnAny returns a function that says which rule acts first on a code of any of the containers, or -1.
func (p *PodFailures) OnAny(containers []corev1.Container) func(code int32) int {
	var names []string // those with rules of their own, and one that has none
	for i := range containers {
		if p.of[containers[i].Name] != nil || len(names) == 0 {
			names = append(names, containers[i].Name)
		}
	}
	return func(code int32) int {
		first := -1
		for _, name := range names {
			if rule := p.ActsOn(name, code); rule >= 0 && (first < 0 || rule < first) {
				first = rule
			}
		}
		return first
	}
}

// listed returns the codes that rules for a container list. False: some rule acts on all others.
func (p *PodFailures) listed(container string) ([]int32, bool) {
	of := p.of[container]
	if of == nil {
		return p.every.listed, !p.every.others
	}
	return slices.Concat(p.every.listed, of.listed), !p.every.others && !of.others
}

// restarts are the restart rules of the workers of a Job.
type restarts struct {
	failures *PodFailures
	action   corev1.ContainerRestartRuleAction
	// recreate are the exit codes on which there is to be a new Pod.
	recreate []int32
	// common are the rules of workers for which podFailurePolicy has no rules of their own, once they are made.
	common []corev1.ContainerRestartRule
	made   bool
}

// of returns the rules of one worker.
func (r *restarts) of(worker string) []corev1.ContainerRestartRule {
	if r.failures.of[worker] != nil {
		return r.failures.rules(r.action, worker, r.recreate)
	}
	if !r.made {
		r.common, r.made = r.failures.rules(r.action, worker, r.recreate), true
	}
	if r.common == nil {
		return nil
	}
	return ruleFor(r.action, r.common[0].ExitCodes.Operator, slices.Clone(r.common[0].ExitCodes.Values))
}

// rules take an action, which restarts the Pod or the container, on every exit code
// of a worker but 0, those of recreate, and those that podFailurePolicy acts on: with the
// latter the container stays as it is, so that Kubernetes acts. No rules:
// podFailurePolicy acts on every failure.
func (p *PodFailures) rules(action corev1.ContainerRestartRuleAction, worker string, recreate []int32) []corev1.ContainerRestartRule {
	listed, all := p.listed(worker)
	if all && len(listed) <= 2*maxRuleCodes { // a list for all and one of this container, each code once; else they are more than a rule takes
		if out := sorted(slices.Concat([]int32{0}, recreate, listed)); len(out) <= maxRuleCodes {
			return ruleFor(action, corev1.ContainerRestartRuleOnExitCodesOpNotIn, out)
		}
	}
	var in []int32
	restarts := codesOf(recreate, false)
	for code := int32(1); code <= maxExitCode; code++ {
		if restarts[code] && p.ActsOn(worker, code) < 0 {
			in = append(in, code)
		}
	}
	if len(in) == 0 {
		return nil
	}
	return ruleFor(action, corev1.ContainerRestartRuleOnExitCodesOpIn, in)
}

func ruleFor(action corev1.ContainerRestartRuleAction, operator corev1.ContainerRestartRuleOnExitCodesOperator, codes []int32) []corev1.ContainerRestartRule {
	rules := RestartAllUnless(codes...)
	rules[0].Action, rules[0].ExitCodes.Operator = action, operator
	return rules
}

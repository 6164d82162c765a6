/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The environment variables of an agent.
const (
	envNamespace       = "NAMESPACE"
	envPodName         = "POD_NAME"
	envJobSetName      = "JOBSET_NAME"
	envJobSetUID       = "JOBSET_UID"
	envRestartExitCode = "RESTART_POD_IN_PLACE_EXIT_CODE"
	envBarrierPort     = "BARRIER_PORT"
	envBarrierAddress  = "BARRIER_ADDRESS"
	envKubeconfig      = "KUBECONFIG"
)

const (
	defaultRestartExitCode = 88
	defaultBarrierPort     = 8080
)

// Config is what an agent is told by its environment.
type Config struct {
	// Namespace of the Pod and of its JobSet.
	Namespace string
	// PodName is the only Pod the agent ever writes.
	PodName string
	// JobSetName is the only JobSet the agent ever reads.
	JobSetName string
	// JobSetUID, when set, makes a JobSet of the same name but another UID count as absent.
	// When empty, the UID of the first JobSet read takes its place.
	JobSetUID string
	// RestartExitCode ends the process when the Pod must restart in place; 0 means 88.
	RestartExitCode int
	// BarrierPort and BarrierAddress are where the startup probe is answered; no address means all.
	BarrierPort    int
	BarrierAddress string
	// Kubeconfig is a path; empty means the service account of the Pod.
	Kubeconfig string
}

// SettingError is an error that a restart cannot mend: a setting is wrong.
type SettingError struct {
	// Setting that is wrong, usually an environment variable.
	Setting string
	// Problem with it.
	Problem string
	// Fix says how to set it.
	Fix string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s %s; %s", e.Setting, e.Problem, e.Fix)
}

// FromEnv reads a Config. The error joins one SettingError for each variable that is wrong.
func FromEnv(lookup func(string) (string, bool)) (Config, error) {
	env := environment{lookup: lookup}
	cfg := Config{
		Namespace:       env.name(envNamespace, "metadata.namespace", validation.IsDNS1123Label),
		PodName:         env.name(envPodName, "metadata.name", validation.IsDNS1123Subdomain),
		JobSetName:      env.name(envJobSetName, "metadata.labels['"+jobSetNameKey+"']", validation.IsDNS1123Subdomain),
		JobSetUID:       env.get(envJobSetUID),
		RestartExitCode: env.number(envRestartExitCode, defaultRestartExitCode, 255),
		BarrierPort:     env.number(envBarrierPort, defaultBarrierPort, 65535),
		BarrierAddress:  env.address(envBarrierAddress),
		Kubeconfig:      env.get(envKubeconfig),
	}
	if cfg.RestartExitCode == exitSetting {
		env.reject(envRestartExitCode, fmt.Sprintf("is %d, which the agent uses for wrong settings", exitSetting),
			"set another code from 1 to 255, or leave it out for "+strconv.Itoa(defaultRestartExitCode))
	}
	if len(env.errs) > 0 {
		return Config{}, errors.Join(env.errs...)
	}
	return cfg, nil
}

// environment looks variables up and gathers what is wrong with them.
type environment struct {
	lookup func(string) (string, bool)
	errs   []error
}

func (e *environment) reject(variable, problem, fix string) {
	e.errs = append(e.errs, &SettingError{Setting: variable, Problem: problem, Fix: fix})
}

// get reads a variable. Empty is unset: that is what the downward API makes of a label that is missing.
func (e *environment) get(variable string) string {
	value, _ := e.lookup(variable)
	return value
}

func (e *environment) name(variable, fieldPath string, check func(string) []string) string {
	value := e.get(variable)
	fix := fmt.Sprintf(`add to the agent's env: {name: %s, valueFrom: {fieldRef: {fieldPath: "%s"}}}`, variable, fieldPath)
	if value == "" {
		e.reject(variable, "is not set", fix)
		return ""
	}
	// The names become parts of a URL path, so what is no name must not get there.
	if problems := check(value); len(problems) > 0 {
		e.reject(variable, fmt.Sprintf("is %q: %s", value, strings.Join(problems, ", ")), fix)
		return ""
	}
	return value
}

func (e *environment) number(variable string, fallback, highest int) int {
	text := e.get(variable)
	if text == "" {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > highest {
		e.reject(variable, fmt.Sprintf("is %q", text),
			fmt.Sprintf("set a whole number from 1 to %d, or leave it out for %d", highest, fallback))
		return fallback
	}
	return value
}

func (e *environment) address(variable string) string {
	text := e.get(variable)
	if text == "" {
		return ""
	}
	if _, err := netip.ParseAddr(text); err != nil {
		e.reject(variable, fmt.Sprintf("is %q, which is no IP address", text),
			"set an address of the Pod, or leave it out for all addresses")
	}
	return text
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Variable is one that the worker gets at each start. Placeholders in its value stand for what the run decides.
type Variable struct{ Name, Value string }

func (e *environment) variables() []Variable {
	var all []Variable
	for text := range strings.FieldsSeq(cmp.Or(e.Get(protocol.VariablesEnv), protocol.DefaultVariables)) {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			e.Reject(protocol.VariablesEnv, fmt.Sprintf("has %q", text), "set NAME=VALUE, with spaces between the variables")
			continue
		}
		all = append(all, Variable{name, value})
	}
	return all
}

// workerEnv is the environment of the container with the variables of a run, and others of the supervisor, in the place
// of those of the same names. One whose value the agent does not know is not set.
func workerEnv(environ []string, variables []Variable, r Run, others ...string) []string {
	replaced := make([]string, 0, len(variables)+len(others))
	for _, v := range variables {
		replaced = append(replaced, v.Name)
	}
	for _, other := range others {
		replaced = append(replaced, nameOf(other))
	}
	env := slices.DeleteFunc(slices.Clone(environ), func(variable string) bool { return slices.Contains(replaced, nameOf(variable)) })
	env = append(env, others...)
	known := r.values()
	for _, v := range variables {
		if value, ok := expand(v.Value, known); ok {
			env = append(env, v.Name+"="+value)
		}
	}
	return env
}

func nameOf(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

// values returns what the placeholders stand for in a run, "" for what is not known.
func (r Run) values() [][2]string {
	values := [][2]string{
		{protocol.EpochPlaceholder, strconv.Itoa(int(r.Epoch))},
		{protocol.RestartsPlaceholder, strconv.Itoa(int(r.Restarts))},
		{protocol.SizePlaceholder, ""}, {protocol.RankPlaceholder, ""}, {protocol.MasterPlaceholder, r.World.Master},
	}
	if r.World.Size > 0 {
		values[2][1], values[3][1] = strconv.Itoa(int(r.World.Size)), strconv.Itoa(int(r.World.Rank))
	}
	return values
}

// expand replaces placeholders. It returns false if one of them is not known.
func expand(text string, values [][2]string) (string, bool) {
	for _, v := range values {
		if v[1] == "" && strings.Contains(text, v[0]) {
			return "", false
		}
		text = strings.ReplaceAll(text, v[0], v[1])
	}
	return text, true
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func lookupIn(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func codes(listed ...int) ExitCodes {
	var set ExitCodes
	for _, code := range listed {
		set[code] = true
	}
	return set
}

// older are the variables of Pods that were built by a manager that lists none.
var older = []Variable{
	{protocol.EpochEnv, "{epoch}"}, {protocol.RestartsEnv, "{restarts}"}, {protocol.WorldSizeEnv, "{size}"}, {protocol.RankEnv, "{rank}"},
}

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		env  []string
		want Settings
	}{
		"P61: the name of the container is enough": {
			[]string{protocol.ContainerEnv, "worker"},
			Settings{Dir: "/jobset", Container: "worker", KillTimeout: 10 * time.Second, Variables: older},
		},
		"P61 P68: everything is set": {
			[]string{protocol.ContainerEnv, "w-1", protocol.DirEnv, "/other", protocol.PassExitCodesEnv, "3, 40-42,255", protocol.VariablesEnv, "A={rank} B=", protocol.StopSignalEnv, "10"},
			Settings{StopSignal: 10, Dir: "/other", Container: "w-1", KillTimeout: 10 * time.Second, Pass: codes(3, 40, 41, 42, 255), Variables: []Variable{{"A", "{rank}"}, {"B", ""}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FromEnv(lookupIn(tc.env...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrongSettingsAreNamedWithTheirFix(t *testing.T) {
	for name, tc := range map[string]struct{ variable, value, want string }{
		"P61: no container":              {protocol.ContainerEnv, "", "JOBSET_CONTAINER is not set; set it to the name"},
		"P67: a container with a slash":  {protocol.ContainerEnv, "../x", `JOBSET_CONTAINER is "../x", which cannot be the name of a container; `},
		"P67: a container with a dot":    {protocol.ContainerEnv, "a.b", `JOBSET_CONTAINER is "a.b", which`},
		"P61: a relative path":           {protocol.DirEnv, "jobset", `JOBSET_SUPERVISOR_DIR is "jobset", which is not an absolute path; set the path`},
		"P61: a path that is too long":   {protocol.DirEnv, "/" + strings.Repeat("x", 92), "JOBSET_SUPERVISOR_DIR has 93 characters, and at most 92 leave room for a socket in it; set the path"},
		"P68: code 0":                    {protocol.PassExitCodesEnv, "0", `JOBSET_PASS_EXIT_CODES has "0"; set exit codes from 1 to 255 and ranges of them, such as "3,40-49"`},
		"P68: a code that is too high":   {protocol.PassExitCodesEnv, "1,256", `JOBSET_PASS_EXIT_CODES has "256"; `},
		"P68: an empty range":            {protocol.PassExitCodesEnv, "9-3", `JOBSET_PASS_EXIT_CODES has "9-3"; `},
		"P68: half a range":              {protocol.PassExitCodesEnv, "9-", `JOBSET_PASS_EXIT_CODES has "9-"; `},
		"P120: a variable without value": {protocol.VariablesEnv, "A=1 B", `JOBSET_VARIABLES has "B"; set NAME=VALUE, with spaces between the variables`},
		"P69b: no signal":                {protocol.StopSignalEnv, "65", `JOBSET_STOP_SIGNAL is "65"; set a whole number from 1 to 64`},
		"P68: no number":                 {protocol.PassExitCodesEnv, "SIGKILL", `JOBSET_PASS_EXIT_CODES has "SIGKILL"; `},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{tc.variable, tc.value, protocol.ContainerEnv, "worker"}
			if _, err := FromEnv(lookupIn(env...)); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %v\nwant %s", err, tc.want)
			}
		})
	}
	_, err := FromEnv(lookupIn(protocol.DirEnv, "x", protocol.PassExitCodesEnv, "x,y"))
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("P61: 4 problems are told as %v", err)
	}
}

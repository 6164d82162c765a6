/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// environ returns a complete environment, changed by pairs of a name and a value.
func environ(pairs ...string) map[string]string {
	env := map[string]string{"NAMESPACE": "default", "POD_NAME": "train-0-0-abcde", "JOBSET_NAME": "train"}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return env
}

func TestFromEnv(t *testing.T) {
	want := func(change func(*Config)) Config {
		cfg := Config{
			Namespace: "default", PodName: "train-0-0-abcde", JobSetName: "train",
			RestartExitCode: 88, BarrierPort: 8080,
		}
		change(&cfg)
		return cfg
	}
	for name, tc := range map[string]struct {
		env  map[string]string
		want Config
	}{
		"O49-O51, O53, O54: three variables are enough": {environ(), want(func(*Config) {})},
		"O50, O53, O54: every variable is read": {
			environ("JOBSET_UID", "u", "RESTART_POD_IN_PLACE_EXIT_CODE", "1", "BARRIER_PORT", "65535",
				"BARRIER_ADDRESS", "::1", "KUBECONFIG", "/k"),
			want(func(c *Config) {
				c.JobSetUID, c.RestartExitCode, c.BarrierPort, c.BarrierAddress, c.Kubeconfig = "u", 1, 65535, "::1", "/k"
			}),
		},
		"O54: the highest exit code is 255": {
			environ("RESTART_POD_IN_PLACE_EXIT_CODE", "255"), want(func(c *Config) { c.RestartExitCode = 255 }),
		},
		"P61 P63: the containers turn process mode on, which has no barrier": {
			environ("WORKER_CONTAINERS", "main,side-car", "SUPERVISOR_DIR", "/jobset", "BARRIER_PORT", "http"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort, c.Place = []string{"main", "side-car"}, "/jobset", 2*time.Second, 0, Place{Jobs: 1}
			}),
		},
		"P63: the shortest grace period": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "STOP_GRACE_SECONDS", "0"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.BarrierPort, c.Place = []string{"main"}, "/jobset", 0, Place{Jobs: 1}
			}),
		},
		"P63: the longest one": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "STOP_GRACE_SECONDS", "3600"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort, c.Place = []string{"main"}, "/jobset", time.Hour, 0, Place{Jobs: 1}
			}),
		},
		"P120: the place of the Pod and the name of rank 0": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "REPLICATED_JOB_NAME", "workers", "REPLICATED_JOB_REPLICAS", "3",
				"JOB_INDEX", "2", "JOB_COMPLETION_INDEX", "5", "MASTER_NAME", "train-workers-0-0.train"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort = []string{"main"}, "/jobset", 2*time.Second, 0
				c.Place = Place{ReplicatedJob: "workers", Jobs: 3, Job: 2, Index: 5, Master: "train-workers-0-0.train"}
			}),
		},
		"P122: the address of rank 0": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "REPLICATED_JOB_NAME", "workers", "POD_IP", "10.1.2.3"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort = []string{"main"}, "/jobset", 2*time.Second, 0
				c.Place, c.Address = Place{ReplicatedJob: "workers", Jobs: 1}, "10.1.2.3"
			}),
		},
		"P122: not of the others": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "REPLICATED_JOB_NAME", "workers", "JOB_COMPLETION_INDEX", "1", "POD_IP", "10.1.2.3"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort = []string{"main"}, "/jobset", 2*time.Second, 0
				c.Place = Place{ReplicatedJob: "workers", Jobs: 1, Index: 1}
			}),
		},
		"P122: not one of IPv6": {
			environ("WORKER_CONTAINERS", "main", "SUPERVISOR_DIR", "/jobset", "REPLICATED_JOB_NAME", "workers", "POD_IP", "fd00::1"),
			want(func(c *Config) {
				c.Containers, c.SupervisorDir, c.StopGrace, c.BarrierPort = []string{"main"}, "/jobset", 2*time.Second, 0
				c.Place = Place{ReplicatedJob: "workers", Jobs: 1}
			}),
		},
		"P60: no containers, no process mode": {
			environ("WORKER_CONTAINERS", "", "SUPERVISOR_DIR", "here", "STOP_GRACE_SECONDS", "x"), want(func(*Config) {}),
		},
		"empty is unset": {
			environ("JOBSET_UID", "", "RESTART_POD_IN_PLACE_EXIT_CODE", "", "BARRIER_PORT", ""), want(func(*Config) {}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromEnv(lookupIn(tc.env))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("FromEnv differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromEnvRejects(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"P37, O49-O51, C302: everything that is missing at once": {
			map[string]string{},
			[]string{
				`NAMESPACE is not set; let the agent's env take it from the downward API, fieldPath metadata.namespace`,
				`POD_NAME is not set; let the agent's env take it from the downward API, fieldPath metadata.name`,
				`JOBSET_NAME is not set; let the agent's env take it from the downward API, fieldPath metadata.labels['jobset.sigs.k8s.io/jobset-name']`,
			},
		},
		"P37, O51: an empty name":               {environ("POD_NAME", ""), []string{"POD_NAME is not set"}},
		"P37: a name that would change the URL": {environ("NAMESPACE", "a/b"), []string{`NAMESPACE is "a/b"`}},
		"P37, O54: exit code 64 is taken": {
			environ("RESTART_POD_IN_PLACE_EXIT_CODE", "64"),
			[]string{"RESTART_POD_IN_PLACE_EXIT_CODE is 64, which the agent uses for wrong settings; set another code from 1 to 255"},
		},
		"P37, O54: exit code 0": {
			environ("RESTART_POD_IN_PLACE_EXIT_CODE", "0"),
			[]string{`RESTART_POD_IN_PLACE_EXIT_CODE is "0"; set a whole number from 1 to 255, or leave it out for 88`},
		},
		"P37, O54: exit code 256":    {environ("RESTART_POD_IN_PLACE_EXIT_CODE", "256"), []string{`RESTART_POD_IN_PLACE_EXIT_CODE is "256"`}},
		"P37, C302: a port in words": {environ("BARRIER_PORT", "http"), []string{`BARRIER_PORT is "http"; set a whole number from 1 to 65535, or leave it out for 8080`}},
		"P37: port 0":                {environ("BARRIER_PORT", "0"), []string{`BARRIER_PORT is "0"`}},
		"P37: port 65536":            {environ("BARRIER_PORT", "65536"), []string{`BARRIER_PORT is "65536"`}},
		"P37: a host as address":     {environ("BARRIER_ADDRESS", "localhost"), []string{`BARRIER_ADDRESS is "localhost", which is not an IP address`}},
		"P61: a container twice": {
			environ("WORKER_CONTAINERS", "a,b,a", "SUPERVISOR_DIR", "/jobset"),
			[]string{`WORKER_CONTAINERS has the container "a": it is listed twice; set the names of all regular containers`},
		},
		"P61: a container without a name": {environ("WORKER_CONTAINERS", "a,", "SUPERVISOR_DIR", "/jobset"), []string{`WORKER_CONTAINERS has the container ""`}},
		"P61: names with blanks":          {environ("WORKER_CONTAINERS", "a, b", "SUPERVISOR_DIR", "/jobset"), []string{`WORKER_CONTAINERS has the container " b"`}},
		"P61: no directory":               {environ("WORKER_CONTAINERS", "a"), []string{"SUPERVISOR_DIR is not set, but WORKER_CONTAINERS is; set the path"}},
		"P61: a relative directory":       {environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "jobset"), []string{`SUPERVISOR_DIR is "jobset", which is not an absolute path`}},
		"P61: a directory that is too long": {
			environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "/"+strings.Repeat("x", 100)), []string{"SUPERVISOR_DIR has 101 characters, and at most 92 leave room for a socket in it; set the path"},
		},
		"P63: a grace period below 0": {
			environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "/jobset", "STOP_GRACE_SECONDS", "-1"),
			[]string{`STOP_GRACE_SECONDS is "-1"; set a whole number from 0 to 3600, or leave it out for 2`},
		},
		"P63: a grace period above an hour": {
			environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "/jobset", "STOP_GRACE_SECONDS", "3601"), []string{`STOP_GRACE_SECONDS is "3601"`},
		},
		"P151: a report in a place that is none": {
			environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "/jobset", "JOBSET_REPORTS", "lease"),
			[]string{`JOBSET_REPORTS is "lease"; set Pod or Lease, or leave it out for Pod`},
		},
		"P151: a Lease without its owner": {
			environ("WORKER_CONTAINERS", "a", "SUPERVISOR_DIR", "/jobset", "JOBSET_REPORTS", "Lease", "JOBSET_UID", ""),
			[]string{`POD_UID is not set, but JOBSET_REPORTS is Lease; let the agent's env take it from the downward API, fieldPath metadata.uid`, "JOBSET_UID is not set"},
		},
		"P37: two at once": {environ("BARRIER_PORT", "x", "POD_NAME", "A B"), []string{"POD_NAME is", "BARRIER_PORT is"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := FromEnv(lookupIn(tc.env))
			var joined interface{ Unwrap() []error }
			if !errors.As(err, &joined) {
				t.Fatalf("FromEnv = %+v, %v; want joined errors", cfg, err)
			}
			if got := joined.Unwrap(); len(got) != len(tc.want) {
				t.Fatalf("%d violations, want %d: %v", len(got), len(tc.want), err)
			}
			for i, violation := range joined.Unwrap() {
				if !strings.Contains(violation.Error(), tc.want[i]) {
					t.Errorf("violation %d is %q, want it to contain %q", i, violation, tc.want[i])
				}
			}
			if code := exitCode(cfg, Outcome{}, err); code != 64 {
				t.Errorf("exit code %d, want 64", code)
			}
		})
	}
}

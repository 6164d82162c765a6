/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

const tenLines = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
spec:
  failurePolicy: {restartStrategy: InPlaceRestart, maxRestarts: 10}
  replicatedJobs:
  - name: workers
    replicas: 3
    template: {spec: {parallelism: 2, template: {spec: {containers: [{command: [train], name: worker, image: worker}]}}}}
`

// inContainerMode is what its author writes to have containers restart.
var inContainerMode = strings.Replace(tenLines, "maxRestarts:", "inPlaceRestart: {mode: Container}, maxRestarts:", 1)

func injectFile(t *testing.T, text string, args ...string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := &apiServer{}
	out, err := kubectlJobSet(t, nobody, append([]string{"inject", "-f", path}, args...)...)
	if len(nobody.asked) > 0 {
		t.Errorf("a file needs no cluster, asked for %v", nobody.asked)
	}
	return out, err
}

func jobsIn(t *testing.T, text string) []*batchv1.Job {
	t.Helper()
	var jobs []*batchv1.Job
	for document := range strings.SplitSeq(text, "---\n") {
		job := &batchv1.Job{}
		if err := yaml.UnmarshalStrict([]byte(document), job); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		jobs = append(jobs, job)
	}
	return jobs
}

func TestInjectShowsTheJobsAsTheManagerBuildsThem(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"P58 P60 P61: processes restart": tenLines, "P58: containers restart": inContainerMode} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sets, err := readManifests([]byte(text), "research")
			if err != nil {
				t.Fatal(err)
			}
			js := sets[0].stored
			want := children.NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent:v1"}).Job(&js.Spec.ReplicatedJobs[0], 0)
			out, err := injectFile(t, text, "--agent-image=agent:v1")
			if err != nil {
				t.Fatal(err)
			}
			got := jobsIn(t, out)[0]
			got.TypeMeta = want.TypeMeta
			// Resources are compared as text.
			wantText, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
			gotText, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(got)
			if diff := cmp.Diff(wantText, gotText); diff != "" {
				t.Errorf("Job (-built +shown):\n%s", diff)
			}
			if supervised := strings.Contains(out, path.Join(protocol.Dir, protocol.Binary)); supervised != (text == tenLines) {
				t.Errorf("supervised: %t", supervised)
			}
		})
	}
}

func TestInjectShowsJobs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		args []string
		want []string
	}{
		"P58: the first of those that are alike": {text: tenLines, want: []string{"train-workers-0"}},
		"P58: all":                               {text: tenLines, args: []string{"--all"}, want: []string{"train-workers-0", "train-workers-1", "train-workers-2"}},
		"P58: one if nobody says how many":       {text: strings.Replace(tenLines, "    replicas: 3\n", "", 1), args: []string{"--all"}, want: []string{"train-workers-0"}},
		"P58: other objects are skipped":         {text: "kind: Namespace\napiVersion: v1\n---\n" + tenLines + "---\n", want: []string{"train-workers-0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := injectFile(t, tc.text, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, job := range jobsIn(t, out) {
				names = append(names, job.Name)
				if job.Namespace != "research" || !workerpod.HoldsAgent(&job.Spec.Template.Spec) {
					t.Errorf("Job %s in %s has no agent", job.Name, job.Namespace)
				}
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("Jobs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInjectShowsWhatIsAdded(t *testing.T) {
	t.Parallel()
	both := []string{"+  backoffLimit: 2147483647", "+        image: jobset/agent:dev", "+      - name: jobset-agent-token"}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"P58 P60: to restart processes": {tenLines, []string{"+        - /jobset/bin/supervisor", "+        - action: Restart", "+        name: jobset-supervisor"}},
		"P58: to restart containers":    {inContainerMode, []string{"+        - action: RestartAllContainers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := injectFile(t, tc.text, "-o", "diff")
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range append(tc.want, both...) {
				if !strings.Contains(out, line+"\n") {
					t.Errorf("no %q in:\n%s", line, out)
				}
			}
			for line := range strings.Lines(out) {
				if strings.HasPrefix(line, "-") && line != "--- as written\n" {
					t.Errorf("something is taken away: %s", line)
				}
			}
		})
	}
}

func TestP58EveryExampleIsShown(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, name := range examples {
		if filepath.Base(name) == "scale-to-4.yaml" {
			continue // a patch
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sets, err := readManifests(text, "research")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(sets) == 0 {
			continue // objects of other kinds
		}
		out, err := injectFile(t, string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := 0
		for _, set := range sets {
			want += len(set.stored.Spec.ReplicatedJobs)
		}
		if got := jobsIn(t, out); len(got) != want {
			t.Errorf("%s: %d Jobs, want %d", name, len(got), want)
		}
		shown++
	}
	if shown < 20 {
		t.Errorf("%d examples have JobSets", shown)
	}
}

func TestInjectShowsWhatTheDefaultsOfTheConfigurationAdd(t *testing.T) {
	t.Parallel()
	many := strings.Replace(tenLines, "parallelism: 2", "parallelism: 86", 1) // 258 workers
	tolerant := strings.Replace(strings.Replace(tenLines, "{command", "{resources: {limits: {nvidia.com/gpu: 8}}, command", 1), "spec:\n", "spec:\n  faultTolerance: {}\n", 1)
	for name, tc := range map[string]struct {
		text, want string
		shown      bool
	}{
		"P150: many workers report in Leases":         {many, "JOBSET_REPORTS", true},
		"P150: few on their Pods":                     {tenLines, "JOBSET_REPORTS", false},
		"P90: workers keep away from sick nodes":      {tolerant, "requiredDuringSchedulingIgnoredDuringExecution", true},
		"P90: those that ask for nothing go anywhere": {tenLines, "requiredDuringSchedulingIgnoredDuringExecution", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, output := range []string{"yaml", "diff"} {
				out, err := injectFile(t, tc.text, "-o", output)
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Contains(out, tc.want); got != tc.shown {
					t.Errorf("-o %s shows %s: %t, want %t, in:\n%s", output, tc.want, got, tc.shown, out)
				}
			}
		})
	}
}

func TestInjectShowsTheEnvironment(t *testing.T) {
	t.Parallel()
	asked := strings.Replace(tenLines, "restartStrategy: InPlaceRestart", "restartStrategy: InPlaceRestart, inPlaceRestart: {environment: Torch}", 1)
	for name, tc := range map[string]struct {
		text string
		args []string
		rank string
		want bool
	}{
		"P121: that the JobSet names":                 {asked, nil, "PET_NODE_RANK={rank}", true},
		"P121: that the configuration names":          {tenLines, []string{"--environment=Torch"}, "PET_NODE_RANK={rank}", true},
		"P121: none":                                  {tenLines, nil, "PET_NODE_RANK={rank}", false},
		"P127: that of JAX":                           {strings.Replace(asked, "Torch", "Jax", 1), nil, "JAX_PROCESS_ID={rank}", true},
		"P127: that of JAX, from the configuration":   {tenLines, []string{"--environment=Jax"}, "JAX_PROCESS_ID={rank}", true},
		"P127: the JobSet's, not the configuration's": {asked, []string{"--environment=Jax"}, "JAX_PROCESS_ID={rank}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := injectFile(t, tc.text, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out, " "+tc.rank); got != tc.want || !strings.Contains(out, "JOBSET_RANK={rank}") {
				t.Errorf("shows %s: %t, want %t, in:\n%s", tc.rank, got, tc.want, out)
			}
		})
	}
}

func TestInjectByName(t *testing.T) {
	t.Parallel()
	s := serving(jobset.InPlaceRestart, nil)
	out, err := kubectlJobSet(t, s, "inject", "train")
	if err != nil || len(s.asked) != 1 || s.asked[0] != jobSetPath {
		t.Errorf("P58: error %v, asked %v, output %q", err, s.asked, out)
	}
}

func TestInjectSaysWhyContainersRestart(t *testing.T) {
	t.Parallel()
	sets, err := readManifests([]byte(strings.Replace(tenLines, "command: [train], ", "", 1)), "research")
	if err != nil {
		t.Fatal(err)
	}
	const want = "spec.failurePolicy.inPlaceRestart.mode: is Container, with which a restart takes seconds longer than with Process: " +
		"spec.replicatedJobs[0].template.spec.template.spec.containers[0].command of container worker is missing"
	if warnings, err := sets[0].admit("agent:v1"); err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
		t.Errorf("P60: error %v, warnings %q, want %q", err, warnings, want)
	}
}

func TestInjectRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		args []string
		want string
	}{
		"P58: what admission refuses, with the path": {text: strings.Replace(tenLines, "parallelism: 2", "parallelism: 2, completions: 3", 1),
			want: "JobSet train: spec.replicatedJobs[0].template.spec.completions: Invalid value: 3: replicatedJob workers: completions and parallelism must be set and equal"},
		"P58: no image":                  {text: tenLines, args: []string{"--agent-image="}, want: "the manager adds it if inPlaceRestart.agentImage of its configuration names an image"},
		"P58: a field with a typo":       {text: strings.Replace(tenLines, "maxRestarts", "maxrestart", 1), want: `unknown field "spec.failurePolicy.maxrestart"`},
		"P58: a list in the wrong case":  {text: strings.Replace(tenLines, "replicatedJobs", "replicatedjobs", 1), want: `unknown field "spec.replicatedjobs"`},
		"P58: a field in the wrong case": {text: strings.Replace(tenLines, "restartStrategy", "restartstrategy", 1), want: `unknown field "spec.failurePolicy.restartstrategy"`},
		"P58: a field given twice":       {text: strings.Replace(tenLines, "maxRestarts: 10", "maxRestarts: 10, maxRestarts: 11", 1), want: `"maxRestarts" already set`},
		"P58: no JobSet":                 {text: "kind: Namespace\napiVersion: v1\n", want: "train.yaml: no JobSet of jobset.x-k8s.io/v1alpha2"},
		"P58: a name and a file":         {text: tenLines, args: []string{"train"}, want: "name one JobSet, or a file, as in: kubectl jobset inject -f FILE"},
		"P121: an unknown environment":   {text: tenLines, args: []string{"--environment=torch"}, want: `--environment is "torch", it must be Torch, Jax or None`},
		"P58: an unknown format":         {text: tenLines, args: []string{"-o", "json"}, want: `--output is "json", it must be yaml or diff`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := injectFile(t, tc.text, tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("error %v, want %q; output %q", err, tc.want, out)
			}
		})
	}
	t.Run("P58: a JobSet that is not there", func(t *testing.T) {
		t.Parallel()
		s := serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){jobSetPath: refuse(http.StatusNotFound, "NotFound", "no")})
		if _, err := kubectlJobSet(t, s, "inject", "train"); err == nil || !strings.Contains(err.Error(), `there is no JobSet "train" in namespace "research"`) {
			t.Errorf("error %v", err)
		}
	})
}

func TestP58ThePageShowsWhatIsAddedToTheSample(t *testing.T) {
	t.Parallel()
	const page, sample = "site/content/en/docs/concepts/in-place-restart-pod.md", "config/samples/jobset_v1alpha2_in_place_restart.yaml"
	shown, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("../..", sample))
	if err != nil {
		t.Fatal(err)
	}
	const restarts, inContainerMode = "maxRestarts: 10", "maxRestarts: 10, inPlaceRestart: {mode: Container}"
	for command, text := range map[string]string{
		"kubectl jobset inject -f " + sample + " -o diff": string(text),
		"sed 's/" + restarts + "/" + strings.Replace(inContainerMode, restarts, "&", 1) + "/' " + sample + " | kubectl jobset inject -f - -o diff": strings.Replace(
			string(text), restarts, inContainerMode, 1),
	} {
		out, err := injectFile(t, text, "-o", "diff")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(shown), "$ "+command+"\n"+strings.TrimSpace(out)+"\n```\n") {
			t.Errorf("%s does not show this after %q:\n%s", page, command, out)
		}
	}
}

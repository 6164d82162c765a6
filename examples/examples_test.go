/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package examples tests what can be known of the examples without an API
// server. That a real one takes them is the part of test/integration/examples.
package examples

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/features"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
	"sigs.k8s.io/jobset/test/ownagent"
)

const (
	minHeader = 2
	maxHeader = 6
	maxLines  = 80
)

func examples(t *testing.T) []manifest.File {
	t.Helper()
	files, err := manifest.Walk("..", "examples")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFormIsOneForAll(t *testing.T) {
	known := features.New().GetAll()
	for _, file := range examples(t) {
		t.Run(file.Path, func(t *testing.T) {
			if n := len(file.Header); n < minHeader || n > maxHeader {
				t.Errorf("opens with %d lines of comment, want %d to %d: what it shows, what it needs, how to watch it, what to expect", n, minHeader, maxHeader)
			}
			for _, word := range []string{"kubectl", "Expect"} {
				if !strings.Contains(strings.Join(file.Header, "\n"), word) {
					t.Errorf("the comment at the top does not say %q", word)
				}
			}
			if file.Lines >= maxLines {
				t.Errorf("has %d lines, want less than %d", file.Lines, maxLines)
			}
			if _, ok := known[featuregate.Feature(file.Gate)]; file.Gate != "" && !ok {
				t.Errorf("names the feature gate %s, which does not exist", file.Gate)
			}
		})
	}
}

var row = regexp.MustCompile(`^\| \[([^\]]+)\]\(([^)]+)\) \| [^|]+ \|([^|]*)\|`)

func TestReadmeListsEveryExampleWithItsGate(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed, gates := map[string]bool{}, map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if match := row.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			listed[match[2]], gates[match[2]] = true, regexp.MustCompile(`\w+`).FindAllString(match[3], -1)
		}
	}
	known := features.New().GetAll()
	for _, file := range examples(t) {
		name := strings.TrimPrefix(file.Path, "examples/")
		if !listed[name] {
			t.Errorf("%s is not in the table", name)
			continue
		}
		// The first is the one that the file names as its gate. What else it needs is in its comment.
		if (file.Gate == "") != (len(gates[name]) == 0) || file.Gate != "" && gates[name][0] != file.Gate {
			t.Errorf("gates of %s: the table has %q, want %q as the first", name, gates[name], file.Gate)
		}
		for _, gate := range gates[name] {
			if _, ok := known[featuregate.Feature(gate)]; !ok {
				t.Errorf("the table names the feature gate %s of %s, which does not exist", gate, name)
			}
			if !strings.Contains(strings.Join(file.Header, "\n"), gate) {
				t.Errorf("the comment of %s does not name the feature gate %s, which the table names", name, gate)
			}
		}
	}
	for _, match := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(match[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.FromSlash(match[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}

// TestCommandsNameFilesThatExist keeps the commands in the comments from rotting.
func TestCommandsNameFilesThatExist(t *testing.T) {
	path := regexp.MustCompile(`(?:examples|config)/[\w./-]*\w`)
	for _, file := range examples(t) {
		for _, line := range file.Header {
			for _, name := range path.FindAllString(line, -1) {
				if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
					t.Errorf("%s names %s: %v", file.Path, name, err)
				}
			}
		}
	}
}

const ownAgent = "examples/in-place-restart/own-agent.yaml"

func TestP50P51OneExampleBringsItsAgentAndAllOthersLeaveItToTheManager(t *testing.T) {
	samples, err := manifest.Walk("..", "config/samples")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]jobset.ReplicatedJob{}
	for _, file := range append(samples, examples(t)...) {
		for _, document := range file.Documents {
			js := &jobset.JobSet{}
			if err := json.Unmarshal(document, js); err != nil || js.Kind != jobset.Kind || !workerpod.WantsInPlace(js) {
				continue
			}
			for _, written := range js.Spec.ReplicatedJobs {
				want := bare(&written).Template
				if file.Path == ownAgent {
					want = *ownagent.Job(&want, "jobset-agent", workerpod.Options{AgentImage: "jobset/agent:dev"})
				}
				if diff := cmp.Diff(want, written.Template); diff != "" {
					t.Errorf("%s, ReplicatedJob %s (-want +written):\n%s", file.Path, written.Name, diff)
				}
				shown[file.Path] = written
			}
		}
	}
	long, short := shown[ownAgent], shown["examples/in-place-restart/jobset.yaml"]
	if diff := cmp.Diff(short, *bare(&long)); diff != "" {
		t.Errorf("jobset.yaml and own-agent.yaml differ in more than the agent (-jobset.yaml +own-agent.yaml):\n%s", diff)
	}
	if _, ok := shown["config/samples/jobset_v1alpha2_in_place_restart.yaml"]; !ok {
		t.Error("config/samples has no JobSet that restarts in place")
	}
}

func TestReadmeShowsTheSample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sample, err := os.ReadFile("../config/samples/jobset_v1alpha2_in_place_restart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, manifest, _ := strings.Cut(string(sample), "\napiVersion:")
	// The worker of the sample is built by the demo and the tutorial. Whoever copies from the README has an image that can be pulled.
	const built, pulled = "image: jobset/worker:dev, command: [/worker]", `image: "docker.io/library/busybox:1.37", command: [sleep, 1h]`
	if !strings.Contains(manifest, built) {
		t.Errorf("the sample has no %q, for which README.md has %q", built, pulled)
	}
	_, shown, _ := strings.Cut(string(readme), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	var want, got map[string]any
	if err := errors.Join(yaml.Unmarshal([]byte("apiVersion:"+strings.Replace(manifest, built, pulled, 1)), &want), yaml.Unmarshal([]byte(shown), &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" { // README.md has a line for each field
		t.Errorf("README.md does not show config/samples/jobset_v1alpha2_in_place_restart.yaml with an image that can be pulled (-want +got):\n%s", diff)
	}
}

// bare is what a user writes who leaves the rest to the manager.
func bare(rjob *jobset.ReplicatedJob) *jobset.ReplicatedJob {
	out := rjob.DeepCopy()
	job := &out.Template.Spec
	job.BackoffLimit, job.PodReplacementPolicy, job.CompletionMode, job.Completions = nil, nil, nil, nil
	pod := &job.Template.Spec
	pod.RestartPolicy, pod.ServiceAccountName = "", ""
	pod.InitContainers = slices.DeleteFunc(pod.InitContainers, func(c corev1.Container) bool { return workerpod.LooksLikeAgent(&c) })
	if len(pod.InitContainers) == 0 {
		pod.InitContainers = nil
	}
	for i := range pod.Containers {
		pod.Containers[i].RestartPolicy, pod.Containers[i].RestartPolicyRules = nil, nil
	}
	return out
}

// A field of faultTolerance that no example shows is one that nobody finds.
func TestEachFieldOfFaultToleranceIsSetInAnExampleAndExplainedBesideIt(t *testing.T) {
	paths, err := filepath.Glob("fault-tolerance/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// It is the list of all fields beside other names, and explains none.
		if filepath.Base(path) != "from-appwrapper.yaml" {
			all.Write(text)
		}
	}
	for field := range reflect.TypeFor[jobset.FaultTolerance]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !regexp.MustCompile(`(?m)^    ` + name + `: ([0-9]+|\{.*\}) +# \S`).MatchString(all.String()) {
			t.Errorf("no manifest of examples/fault-tolerance sets %s, with a comment that says what it means", name)
		}
	}
}

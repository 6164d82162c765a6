/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsetscheme "sigs.k8s.io/jobset/client-go/clientset/versioned/scheme"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// manifest is a JobSet as its author wrote it, and as it is stored.
type manifest struct{ written, stored *jobset.JobSet }

// gatesOf: a manifest is not refused for features that its cluster may have. That sizes change is assumed only of
// a JobSet that says so, since it costs variables of workers (P120).
func gatesOf(js *jobset.JobSet) gates.Set {
	elastic := slices.ContainsFunc(js.Spec.ReplicatedJobs, func(r jobset.ReplicatedJob) bool { return r.Elastic != nil })
	return gates.Set{InPlaceRestart: true, RestartJob: true, FaultTolerance: true, ElasticJobSet: elastic}
}

// strict decodes as an API server does, to which a key in another case is unknown.
var strict = serializer.NewCodecFactory(jobsetscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// readManifests returns the JobSets among YAML documents, with defaults.
func readManifests(text []byte, namespace string) ([]manifest, error) {
	var found []manifest
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("splitting into documents: %w", err)
		}
		object := map[string]any{}
		if err := yaml.Unmarshal(document, &object); err != nil {
			return nil, fmt.Errorf("reading: %w", err)
		}
		raw := unstructured.Unstructured{Object: object}
		if raw.GroupVersionKind() != jobset.GroupVersion.WithKind(jobset.Kind) {
			continue
		}
		written := &jobset.JobSet{}
		if err := runtime.DecodeInto(strict, document, written); err != nil {
			return nil, fmt.Errorf("reading JobSet %s: %w", raw.GetName(), err)
		}
		written.Namespace = cmp.Or(written.Namespace, namespace)
		schemaDefaults(written, object)
		stored := written.DeepCopy()
		webhooks.Default(stored, gatesOf(stored))
		found = append(found, manifest{written, stored})
	}
}

// schemaDefaults fills in what the CRD does; which zeros were written, the object says.
func schemaDefaults(js *jobset.JobSet, object map[string]any) {
	if p := js.Spec.FailurePolicy; p != nil {
		p.RestartStrategy = cmp.Or(p.RestartStrategy, jobset.Recreate)
	}
	written, _, _ := unstructured.NestedSlice(object, "spec", "replicatedJobs")
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		rjob.GroupName = cmp.Or(rjob.GroupName, "default")
		fields, _ := written[i].(map[string]any)
		if _, said := fields["replicas"]; !said {
			rjob.Replicas = 1
		}
	}
}

// admit is what admission would say.
func (m manifest) admit(image string) ([]string, error) {
	on := gatesOf(m.stored)
	errs := validation.Create(m.stored, on)
	errs = append(errs, validation.InCluster(m.stored, on, validation.Cluster{AgentImage: image})...)
	warnings := append(validation.DefaultWarnings(m.written, on), validation.Warnings(m.stored, on)...)
	return warnings, errs.ToAggregate()
}

// renderJobs renders the first Job of each ReplicatedJob, or all of them.
func renderJobs(js *jobset.JobSet, with workerpod.Injection, all bool) ([]string, error) {
	builder := children.NewBuilder(js).InjectAgents(with).Elastic(gatesOf(js).ElasticJobSet)
	if js.Spec.FaultTolerance != nil {
		builder.KeepAway(nodehealth.DefaultRules())
	}
	var out []string
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		for index := range int(rjob.Replicas) {
			if index > 0 && !all {
				break
			}
			text, err := renderJob(builder.Job(rjob, index))
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
	}
	return out, nil
}

func renderJob(job *batchv1.Job) (string, error) {
	job.APIVersion, job.Kind = batchv1.SchemeGroupVersion.String(), "Job"
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		return "", fmt.Errorf("rendering Job %s: %w", job.Name, err)
	}
	delete(object, "status")
	withoutNil(object)
	text, err := yaml.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("rendering Job %s: %w", job.Name, err)
	}
	return string(text), nil
}

// withoutNil removes fields that say nothing, such as empty creation times and resources.
func withoutNil(object map[string]any) {
	for key, value := range object {
		switch v := value.(type) {
		case nil:
			delete(object, key)
		case map[string]any:
			if withoutNil(v); len(v) == 0 && (key == "resources" || key == "metadata") {
				delete(object, key)
			}
		case []any:
			for _, item := range v {
				if fields, ok := item.(map[string]any); ok {
					withoutNil(fields)
				}
			}
		}
	}
}

// diffOf shows line by line what the Jobs have besides what is written.
func diffOf(before, after []string) string {
	var out strings.Builder
	for i := range after {
		text, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{ // never fails: it writes to memory
			A: difflib.SplitLines(before[i]), B: difflib.SplitLines(after[i]), FromFile: "as written", ToFile: "as built", Context: 3,
		})
		out.WriteString(text)
	}
	return out.String()
}

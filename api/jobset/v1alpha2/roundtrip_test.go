/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apitesting "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/randfill"
	sigsyaml "sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestRandomJobSetsSurviveJSON(t *testing.T) {
	const seed, count = 467, 500
	scheme := runtime.NewScheme()
	if err := jobset.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	quantities := func(serializer.CodecFactory) []any {
		return []any{func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1<<40), resource.DecimalSI)
		}}
	}
	funcs := apitesting.MergeFuzzerFuncs(metafuzzer.Funcs, quantities)
	filler := apitesting.FuzzerFor(funcs, rand.NewSource(seed), serializer.NewCodecFactory(scheme))
	for i := range count {
		before := &jobset.JobSet{}
		filler.Fill(before)
		first := encode(t, before)
		after := &jobset.JobSet{}
		if err := json.Unmarshal(first, after); err != nil {
			t.Fatalf("object %d of seed %d: decoding what was encoded: %v", i, seed, err)
		}
		if !apiequality.Semantic.DeepEqual(before, after) {
			t.Fatalf("object %d of seed %d changed (-before +after):\n%s", i, seed, cmp.Diff(before, after))
		}
		if second := encode(t, after); !bytes.Equal(first, second) {
			t.Fatalf("object %d of seed %d is encoded in two ways:\n%s\n%s", i, seed, first, second)
		}
	}
}

func TestManifestsSurviveDecodingAndEncoding(t *testing.T) {
	found := 0
	for _, dir := range []string{"testdata", "../../../config/samples"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			found += manifestsSurvive(t, path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 4 {
		t.Fatalf("only %d JobSet manifests found", found)
	}
}

// manifestsSurvive checks the JobSets of one file and returns how many there are.
func manifestsSurvive(t *testing.T, path string) int {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if err != nil {
			return count
		}
		var raw map[string]any
		if err := sigsyaml.Unmarshal(document, &raw); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if raw["kind"] != jobset.Kind {
			continue
		}
		count++
		t.Run(filepath.Base(path), func(t *testing.T) {
			typed := &jobset.JobSet{}
			if err := sigsyaml.UnmarshalStrict(document, typed); err != nil {
				t.Fatalf("decoding strictly: %v", err)
			}
			var encoded map[string]any
			if err := json.Unmarshal(encode(t, typed), &encoded); err != nil {
				t.Fatal(err)
			}
			lost(t, "", normal(t, raw), encoded)
		})
	}
}

// lost reports what is in want but missing or different in got. Got may also have
// the empty structs that Go encodes.
func lost(t *testing.T, path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is lost: want %v, got %v", path, want, got)
			return
		}
		for key := range w {
			if _, ok := g[key]; !ok {
				t.Errorf("%s.%s is lost", path, key)
				continue
			}
			lost(t, path+"."+key, w[key], g[key])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			t.Errorf("%s: want %v, got %v", path, want, got)
			return
		}
		for i := range w {
			lost(t, path+"[]", w[i], g[i])
		}
	default:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", path, diff)
		}
	}
}

func encode(t *testing.T, obj any) []byte {
	t.Helper()
	encoded, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// normal gives numbers the type that JSON decoding gives them.
func normal(t *testing.T, raw map[string]any) (n map[string]any) {
	t.Helper()
	if err := json.Unmarshal(encode(t, raw), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

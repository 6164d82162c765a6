/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// lost lists what was in an object and is not in it any more, or differs. What
// came in addition is not looked at.
func lost(before, after any) []string {
	return lostAt("", before, after)
}

func lostAt(path string, before, after any) []string {
	var gone []string
	switch was := before.(type) {
	case map[string]any:
		is, ok := after.(map[string]any)
		if !ok {
			return differs(path, before, after)
		}
		for _, key := range slices.Sorted(maps.Keys(was)) {
			if value, ok := is[key]; ok {
				gone = append(gone, lostAt(path+"."+key, was[key], value)...)
			} else if !empty(was[key]) {
				gone = append(gone, path+"."+key)
			}
		}
	case []any:
		is, ok := after.([]any)
		if !ok || len(is) < len(was) {
			return differs(path, before, after)
		}
		for i := range was {
			gone = append(gone, lostAt(fmt.Sprintf("%s[%d]", path, i), was[i], is[i])...)
		}
	default:
		if !empty(before) && !same(before, after) {
			return differs(path, before, after)
		}
	}
	return gone
}

func differs(path string, before, after any) []string {
	return []string{fmt.Sprintf("%s: was %v, is %v", path, before, after)}
}

func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return value == nil || value == ""
}

// same compares scalars; quantities may be written in several ways.
func same(before, after any) bool {
	if equality.Semantic.DeepEqual(before, after) {
		return true
	}
	was, err := resource.ParseQuantity(fmt.Sprint(before))
	if err != nil {
		return false
	}
	is, err := resource.ParseQuantity(fmt.Sprint(after))
	return err == nil && was.Equal(is)
}

// documents are those of a YAML stream, as JSON.
func documents(stream string) [][]byte {
	GinkgoHelper()
	var all [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(stream)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		Expect(err).NotTo(HaveOccurred())
		asJSON, err := yaml.YAMLToJSONStrict(document)
		Expect(err).NotTo(HaveOccurred())
		all = append(all, asJSON)
	}
}

var _ = DescribeTable("What an object lost",
	func(before, after any, want []string) {
		Expect(lost(before, after)).To(Equal(want))
	},
	Entry("is nothing if something was added", map[string]any{"a": "1"}, map[string]any{"a": "1", "b": "2"}, nil),
	Entry("is nothing if a quantity is written in another way", map[string]any{"a": int64(1)}, map[string]any{"a": "1000m"}, nil),
	Entry("is nothing if it was empty", map[string]any{"a": map[string]any{}, "b": ""}, map[string]any{"b": "default"}, nil),
	Entry("is a field", map[string]any{"a": map[string]any{"b": "1"}}, map[string]any{"a": map[string]any{}}, []string{".a.b"}),
	Entry("is a value", map[string]any{"a": []any{"x"}}, map[string]any{"a": []any{"y"}}, []string{".a[0]: was x, is y"}),
	Entry("is an item", map[string]any{"a": []any{"x", "y"}}, map[string]any{"a": []any{"x"}}, []string{".a: was [x y], is [x]"}),
)

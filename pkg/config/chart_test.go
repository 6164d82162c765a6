/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// TestTheChartHasTheseSettings: blocks of the configuration that are blocks of the chart's values have the same settings.
func TestTheChartHasTheseSettings(t *testing.T) {
	t.Parallel()
	type schema struct {
		Properties map[string]schema `json:"properties"`
	}
	text, err := os.ReadFile("../../charts/jobset/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var values schema
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	for block, settings := range map[string]any{
		"faultTolerance": configapi.FaultTolerance{}, "elasticAutoscaling": configapi.ElasticAutoscaling{}, "inPlaceRestart": configapi.InPlaceRestart{},
	} {
		var want []string
		for _, setting := range reflect.VisibleFields(reflect.TypeOf(settings)) {
			name, _, _ := strings.Cut(setting.Tag.Get("json"), ",")
			want = append(want, name)
		}
		slices.Sort(want)
		got := slices.Sorted(maps.Keys(values.Properties["controller"].Properties[block].Properties))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("values.schema.json has other settings in controller.%s than the configuration in %s (-configuration +chart):\n%s", block, block, diff)
		}
	}
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestHistoryAppendsRowsOfTheTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "figures.tsv")
	head := "id\tvalue\tunit\tspread\tkind\tdate\tcommit\tmachine\tcommand\n"
	if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	var results []result
	for i := range 20 {
		results = append(results, result{
			scenario:   scenario{strategy: jobset.InPlaceRestart, mode: jobset.ProcessMode, delays: realDelays, flowControl: true, workers: 100},
			lastWorker: time.Duration(i+1) * time.Second,
		})
	}
	all := seriesOf(results)
	if p90, p99 := all[0].quantile(total, 90), all[0].quantile(total, 99); p90 != seconds(18) || p99 != "-" {
		t.Errorf("of 1 to 20 s: p90 %s, p99 %s", p90, p99)
	}
	figures := append(figuresOfRestart(all), figuresOfStart([]startUp{{jobs: 500, cpu: time.Second, bytes: 512000}})...)
	figures = append(figures, figuresOfRest([]atRest{{id: "tolerant.1000", used: processUse{CPU: time.Second / 4}, took: time.Minute}})...)
	for range 2 {
		if err := history(path).add(t.Context(), "make bench", figures); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 1+2*4 {
		t.Fatalf("two runs of four figures left:\n%s", text)
	}
	for i, want := range []string{
		"bench.restart.process.100.flow-control\t10.50\ts\t1.00 to 20.00, p90 18.00, n=20\tsimulated\t",
		"bench.start.cpu.500\t2.00\tms a Job\t-\tsimulated\t", "bench.start.memory.500\t1.00\tKiB a Job\t-\tsimulated\t",
		"bench.rest.tolerant.1000\t0.25\ts CPU in 60 s\tn=1\tsimulated\t",
	} {
		if got := lines[1+i]; !strings.HasPrefix(got, want) || len(strings.Split(got, "\t")) != 9 || !strings.HasSuffix(got, "\tmake bench") {
			t.Errorf("line %q, want it to begin with %q", got, want)
		}
	}
	if err := history("").add(t.Context(), "", figures); err != nil {
		t.Errorf("without a table: %v", err)
	}
}

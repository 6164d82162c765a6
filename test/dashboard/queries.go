/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// query is one of a panel, with the variables of the dashboard filled in.
type query struct{ panel, expr string }

// job is what the variable of this name stands for, and the label of all that is scraped.
const job = "jobset-controller-manager-metrics-service"

// variables are those that Grafana fills in. Scrapes are a second apart, so its interval of four of them is short.
var variables = strings.NewReplacer("$__rate_interval", "15s", "$job", job)

type panel struct {
	Title   string
	Type    string
	Panels  []panel
	Targets []struct{ Expr string }
}

// queriesOf lists the queries of all panels.
func queriesOf(dashboard []byte) ([]query, error) {
	var d struct{ Panels []panel }
	if err := json.Unmarshal(dashboard, &d); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	queries, err := collect(d.Panels)
	if err == nil && len(queries) == 0 {
		err = errors.New("there is no query in it")
	}
	return queries, err
}

func collect(panels []panel) ([]query, error) {
	var queries []query
	for _, p := range panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			return nil, fmt.Errorf("panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			q := query{panel: p.Title, expr: variables.Replace(target.Expr)}
			if strings.Contains(q.expr, "$") {
				return nil, fmt.Errorf("panel %q has a variable that this check does not know: %s", p.Title, target.Expr)
			}
			queries = append(queries, q)
		}
		inner, err := collect(p.Panels)
		if err != nil {
			return nil, err
		}
		queries = append(queries, inner...)
	}
	return queries, nil
}

// selected is the name of a metric before its selector; every query of the dashboard selects a job.
var selected = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\{`)

// metrics are the names of the metrics that some queries read.
func metrics(queries []query) []string {
	var names []string
	for _, q := range queries {
		for _, m := range selected.FindAllStringSubmatch(q.expr, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

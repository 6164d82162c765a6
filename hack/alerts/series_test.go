/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package alerts

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// interval is how often the made-up targets are scraped and the rules evaluated.
const interval = 30 * time.Second

// start is when the first sample of each series is taken.
var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

var (
	promParser = parser.NewParser(parser.Options{})
	// The look-back is the default of Prometheus.
	engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, Parser: promParser})
)

// memory holds series; it is all that the engine asks of a storage.
type memory struct{ series []storage.Series }

// load reads series in the notation of Prometheus' own tests, a sample per interval: `up{pod="a"} 0+1x10 stale`.
func load(t *testing.T, descriptions ...string) *memory {
	t.Helper()
	m := &memory{}
	for _, description := range descriptions {
		lset, values, err := promParser.ParseSeriesDesc(description)
		if err != nil {
			t.Fatalf("%s: %v", description, err)
		}
		var samples []chunks.Sample
		for i, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{at: timestamp.FromTime(start.Add(time.Duration(i) * interval)), value: value.Value})
			}
		}
		m.series = append(m.series, storage.NewListSeries(lset, samples))
	}
	return m
}

// names are the metrics that there are series of.
func (m *memory) names() []string {
	var names []string
	for _, series := range m.series {
		names = append(names, series.Labels().Get(model.MetricNameLabel))
	}
	return names
}

// query runs an expression at one moment.
func (m *memory) query(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	query, err := engine.NewInstantQuery(ctx, m, nil, expr, at)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	vector, err := query.Exec(ctx).Vector()
	return slices.Clone(vector), err
}

// Querier is the memory itself, whatever times are asked for: the engine leaves out what it does not need.
func (m *memory) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, series := range m.series {
			if !slices.ContainsFunc(matchers, func(matcher *labels.Matcher) bool { return !matcher.Matches(series.Labels().Get(matcher.Name)) }) {
				found = append(found, series)
			}
		}
		return &seriesSet{series: found, at: -1}
	}}, nil
}

// seriesSet goes through series.
type seriesSet struct {
	series []storage.Series
	at     int
}

func (s *seriesSet) Next() bool                        { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series                { return s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// sample is a number at a time.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestSpreadOf(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   spread
	}{
		"nothing was measured":                                {},
		"one value is all there is":                           {values: []float64{3}, want: spread{3, 3, 3}},
		"the one in the middle, whatever the order":           {values: []float64{9, 1, 2}, want: spread{2, 1, 9}},
		"of an even number the mean of the two in the middle": {values: []float64{4, 1, 3, 100}, want: spread{3.5, 1, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, spreadOf(tc.values), cmp.AllowUnexported(spread{})); diff != "" {
				t.Errorf("spreadOf() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSumMetrics(t *testing.T) {
	got, err := sumMetrics(strings.NewReader(`# HELP a b
a 1.5
passes{controller="jobset",result="success"} 3
passes{controller="jobset",result="error"} 1
passes{controller="pod",result="a b"} 1e+01
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"a": 1.5, "passes": 14, "passes/jobset": 4, "passes/pod": 10}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sumMetrics() (-want +got):\n%s", diff)
	}
	if _, err := sumMetrics(strings.NewReader("a b")); err == nil {
		t.Error("sumMetrics() reads a value that is no number")
	}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestCountRequests(t *testing.T) {
	log := `{"stage":"ResponseComplete","verb":"patch","userAgent":"jobset-agent","objectRef":{"resource":"pods","name":"set-w-0-0-abcde"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:01Z","stageTimestamp":"2026-01-01T12:00:02Z"}
{"stage":"ResponseStarted","verb":"watch","userAgent":"jobset-agent","objectRef":{"resource":"jobsets"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:01Z"}
{"stage":"ResponseComplete","verb":"watch","userAgent":"jobset-agent","objectRef":{"resource":"jobsets"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:01Z"}
{"stage":"ResponseComplete","verb":"watch","userAgent":"jobset-agent","objectRef":{"resource":"jobsets"},"responseStatus":{"code":429},"requestReceivedTimestamp":"2026-01-01T12:00:02Z"}
{"stage":"ResponseStarted","verb":"watch","userAgent":"jobset-agent","objectRef":{"resource":"jobsets"},"responseStatus":{"code":504},"requestReceivedTimestamp":"2026-01-01T12:00:02Z"}
{"stage":"ResponseComplete","verb":"update","userAgent":"jobset/v1 (linux)","objectRef":{"resource":"jobsets","subresource":"status"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:02Z","requestObject":{"status":{"deprecatedEpoch":1,"syncedEpoch":2}}}
{"stage":"ResponseComplete","verb":"update","userAgent":"jobset/v1 (linux)","objectRef":{"resource":"jobsets","subresource":"status"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:11Z"}
{"stage":"ResponseComplete","verb":"get","userAgent":"bench-restart","objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-01T12:00:02Z"}
{"stage":"ResponseCompl`
	got, read, err := countRequests(strings.NewReader(log), noon, noon.Add(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.LastIndex(log, "\n") + 1; read != int64(want) {
		t.Errorf("countRequests() read %d bytes, want %d: a line that is being written is left", read, want)
	}
	want := requests{refused: map[string]int{"jobset-agent": 1}, failed: 1, by: map[ask][]time.Time{
		{"jobset-agent", "patch pods"}:      {noon.Add(time.Second)},
		{"jobset-agent", "watch jobsets"}:   {noon.Add(time.Second)},
		{"jobset", "update jobsets/status"}: {noon.Add(2 * time.Second)},
		{benchAgent, "get pods"}:            {noon.Add(2 * time.Second)},
	}, reporters: map[string]int{"set-w-0-0-abcde": 1}, answered: []time.Time{noon.Add(2 * time.Second)}, epochs: []epochWrite{{noon.Add(2 * time.Second), 1, 2}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(requests{}, ask{}, epochWrite{})); diff != "" {
		t.Errorf("countRequests() (-want +got):\n%s", diff)
	}
	if got.total() != 3 {
		t.Errorf("total() = %d, want 3: the benchmark's own do not count", got.total())
	}
}

func TestManagersShare(t *testing.T) {
	at := func(seconds ...int) (moments []time.Time) {
		for _, s := range seconds {
			moments = append(moments, noon.Add(time.Duration(s)*time.Second))
		}
		return moments
	}
	write := func(second int, deprecated, synced int32) epochWrite {
		return epochWrite{at(second)[0], deprecated, synced}
	}
	for name, tc := range map[string]struct {
		requests      requests
		breaks, lifts time.Duration
		unknown       bool
	}{
		"from the first report to the break, from the last to the lift": {
			requests{answered: at(10, 1, 5), epochs: []epochWrite{write(3, 1, 1), write(14, 1, 2)}}, 2 * time.Second, 4 * time.Second, false,
		},
		"writes of counts before, between and behind are others": {
			requests{answered: at(1, 10), epochs: []epochWrite{write(20, 1, 2), write(14, 1, 2), write(7, 1, 1), write(3, 1, 1), write(2, 0, 1)}}, 2 * time.Second, 4 * time.Second, false,
		},
		"nothing was written":   {requests{answered: at(1)}, 0, 0, true},
		"nothing was reported":  {requests{epochs: []epochWrite{write(3, 1, 1), write(14, 1, 2)}}, 0, 0, true},
		"the lift is not there": {requests{answered: at(1), epochs: []epochWrite{write(3, 1, 1)}}, 2 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if breaks, lifts, known := tc.requests.managersShare(); breaks != tc.breaks || lifts != tc.lifts || known == tc.unknown {
				t.Errorf("managersShare() = %s, %s, %v, want %s, %s, %v", breaks, lifts, known, tc.breaks, tc.lifts, !tc.unknown)
			}
		})
	}
}

func TestUsageLess(t *testing.T) {
	idle := usage{manager: managerUse{cpu: 1, bytes: 10, objects: 2, wakes: 1}, cpu: map[string]float64{"etcd": 0.5}, jobSetBytes: 7}
	all := usage{manager: managerUse{cpu: 5, bytes: 50, objects: 9, wakes: 4}, cpu: map[string]float64{"etcd": 2, "manager": 3}, jobSetBytes: 21}
	want := usage{manager: managerUse{cpu: 3, bytes: 30, objects: 5, wakes: 2}, cpu: map[string]float64{"etcd": 1, "manager": 3}, jobSetBytes: 7}
	if diff := cmp.Diff(want, all.less(idle, 2), cmp.AllowUnexported(usage{}, managerUse{})); diff != "" {
		t.Errorf("less() (-want +got):\n%s", diff)
	}
}

// writesAt is a restart of 4 seconds from break to lift with status writes at these seconds after
// the failure; the writes of the two epochs come a moment before they are seen.
func writesAt(seconds ...float64) result {
	r := result{failed: noon, decided: time.Second, lift: 5 * time.Second, requests: requests{by: map[ask][]time.Time{}}}
	for _, s := range append(seconds, 0.99, 4.99) {
		key := ask{managerClient, statusWrite}
		r.requests.by[key] = append(r.requests.by[key], noon.Add(time.Duration(s*float64(time.Second))))
	}
	return r
}

func TestTooManyWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		restart result
		want    float64
	}{
		"P22: two epochs alone":                                            {restart: writesAt()},
		"P22: one more write a second":                                     {restart: writesAt(1.1, 2.1, 3.1, 4.1)},
		"P22: two writes in each second are too many":                      {restart: writesAt(1.1, 1.6, 2.1, 2.6, 3.1, 3.6, 4.1, 4.6), want: 3},
		"P22: what is written before the break and after the lift is free": {restart: writesAt(0.2, 0.3, 6, 6.1, 6.2, 6.3, 6.4)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tooManyWrites(tc.restart); got != tc.want {
				t.Errorf("tooManyWrites() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestBudgets(t *testing.T) {
	good := writesAt()
	good.scenario = scenario{strategy: jobset.InPlaceRestart, mode: jobset.ContainerMode, delays: noDelays, flowControl: true, workers: 2}
	good.firstReport, good.lastReport, good.window = 900*time.Millisecond, 4900*time.Millisecond, 10*time.Second
	for range good.workers {
		for _, kind := range []string{"watch jobsets", "patch pods"} {
			key := ask{agentClient, kind}
			good.requests.by[key] = append(good.requests.by[key], noon.Add(2*time.Second))
		}
	}

	for name, tc := range map[string]struct {
		change func(*result)
		broken string
	}{
		"P22: all budgets are kept": {change: func(*result) {}},
		"the manager takes more than a second for break and lift": {change: func(r *result) {
			r.requests.answered = []time.Time{noon, noon.Add(4 * time.Second)}
			r.requests.epochs = []epochWrite{{noon.Add(600 * time.Millisecond), 1, 1}, {noon.Add(4500 * time.Millisecond), 1, 2}}
		}, broken: "seconds of the manager's own"},
		"the API server refuses although it should queue": {change: func(r *result) { r.requests.refused = map[string]int{agentClient: 1} }, broken: "requests of agents refused with 429"},
		"P38: an agent watches twice": {change: func(r *result) {
			by := map[ask][]time.Time{}
			for a, at := range r.requests.by {
				by[a] = at
			}
			by[ask{agentClient, "watch jobsets"}] = append([]time.Time{noon}, by[ask{agentClient, "watch jobsets"}]...)
			r.requests.by = by
		}, broken: "watches per agent"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			tc.change(&bad)
			var broken []string
			for _, b := range budgetsOf(seriesOf([]result{good, bad})) {
				if !b.kept() {
					what, _, _ := strings.Cut(b.what, ",")
					broken = append(broken, what)
				}
			}
			if got := strings.Join(broken, "; "); got != tc.broken {
				t.Errorf("broken budgets: %q, want %q", got, tc.broken)
			}
		})
	}
}

func TestRatio(t *testing.T) {
	restart := func(mode jobset.InPlaceRestartMode, limits string, d delays, flow bool, took time.Duration) result {
		s := scenario{strategy: jobset.InPlaceRestart, mode: mode, limits: limits, delays: d, flowControl: flow, workers: 10}
		if mode == "" {
			s.strategy = jobset.Recreate
		}
		return result{scenario: s, lastWorker: took}
	}
	all := seriesOf([]result{
		restart(jobset.ContainerMode, "tuned", noDelays, false, time.Second),
		restart(jobset.ContainerMode, "tuned", realDelays, true, 2*time.Second),
		restart(jobset.ContainerMode, "tuned", realDelays, false, 3*time.Second),
		restart("", "default", realDelays, false, 12*time.Second),
		restart(jobset.ContainerMode, "tuned", realDelays, false, 5*time.Second),
		restart(jobset.ProcessMode, "tuned", realDelays, false, time.Second),
	})
	if len(all) != 5 {
		t.Fatalf("seriesOf() has %d series, want 5", len(all))
	}
	for mode, want := range map[jobset.InPlaceRestartMode]float64{jobset.ContainerMode: 4, jobset.ProcessMode: 1} {
		b, ok := base(all, all[3], mode)
		if !ok || b.median(total) != want {
			t.Errorf("base() = %+v, %t, want the restarts in mode %s with the same delays", b, ok, mode)
		}
	}
	if _, ok := base(all[:1], all[3], jobset.ContainerMode); ok {
		t.Error("base() compares what had other delays")
	}
}

func TestBudgetsOfProcessMode(t *testing.T) {
	restart := func(workers int, asks map[ask]int) result {
		r := writesAt()
		r.scenario = scenario{strategy: jobset.InPlaceRestart, mode: jobset.ProcessMode, delays: realDelays, workers: workers}
		r.window = 10 * time.Second
		for a, n := range asks {
			r.requests.by[a] = append(r.requests.by[a], make([]time.Time, n)...)
		}
		return r
	}
	reports, watches := ask{agentClient, report}, ask{agentClient, "watch jobsets"}
	for name, tc := range map[string]struct {
		asks   map[ask]int
		lift   time.Duration
		broken string
	}{
		"P73: one patch per Pod, and the watches that are due anyway":             {asks: map[ask]int{reports: 100, watches: 8}},
		"P73: two patches of a Pod":                                               {asks: map[ask]int{reports: 101}, broken: "patches per agent"},
		"P72: a restart of half a minute, in which the first repeat their report": {lift: 30 * time.Second, asks: map[ask]int{reports: 110}, broken: ""},
		"P73: each agent watches again":                                           {asks: map[ask]int{reports: 100, watches: 100}, broken: "new watches per agent"},
		"P73: a kubelet writes a status":                                          {asks: map[ask]int{reports: 100, {"simnode", "patch pods/status"}: 1}, broken: "writes of Pod status"},
	} {
		t.Run(name, func(t *testing.T) {
			var broken []string
			r := restart(100, tc.asks)
			if tc.lift > 0 {
				r.lift = tc.lift
				for i := range r.requests.by[reports] {
					r.requests.by[reports][i] = noon.Add(time.Duration(i) * time.Second / 4) // 40 of them 20 s before the lift
				}
			}
			for _, b := range budgetsOf(seriesOf([]result{r})) {
				if !b.kept() {
					what, _, _ := strings.Cut(b.what, ",")
					broken = append(broken, what)
				}
			}
			if got := strings.Join(broken, "; "); got != tc.broken {
				t.Errorf("broken budgets: %q, want %q", got, tc.broken)
			}
		})
	}
}

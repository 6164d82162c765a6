/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"math"
	"reflect"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestSignsAreReadFromDatagrams(t *testing.T) {
	for name, tc := range map[string]struct {
		datagrams []string
		want      Signs
	}{
		"P130: a sign of life":                      {[]string{"WATCHDOG=1"}, Signs{Alive: true}},
		"P130: a step":                              {[]string{"X_JOBSET_STEP=7\n"}, Signs{Step: 7, Stepped: true}},
		"P130: the last step of several":            {[]string{"X_JOBSET_STEP=7", "X_JOBSET_STEP=5\nX_JOBSET_STEP=6"}, Signs{Step: 6, Stepped: true}},
		"P130: step 0":                              {[]string{"X_JOBSET_STEP=0"}, Signs{Stepped: true}},
		"P130: all at once":                         {[]string{"READY=1\nWATCHDOG=1\nX_JOBSET_STEP=9\nEXTEND_TIMEOUT_USEC=2000000"}, Signs{Alive: true, Step: 9, Stepped: true, Extend: 2 * time.Second}},
		"P130: the worker says that it hangs":       {[]string{"WATCHDOG=trigger"}, Signs{Stuck: true}},
		"P131: the longest extension":               {[]string{"EXTEND_TIMEOUT_USEC=3000000", "EXTEND_TIMEOUT_USEC=1000000"}, Signs{Extend: 3 * time.Second}},
		"P131: an extension without end":            {[]string{"EXTEND_TIMEOUT_USEC=9223372036854775807"}, Signs{Extend: maxExtend}},
		"P131: a negative extension":                {[]string{"EXTEND_TIMEOUT_USEC=-1"}, Signs{}},
		"P130: a negative step":                     {[]string{"X_JOBSET_STEP=-1"}, Signs{}},
		"P130: a step that is too large":            {[]string{"X_JOBSET_STEP=9223372036854775808"}, Signs{}},
		"P130: no number":                           {[]string{"X_JOBSET_STEP=one", "X_JOBSET_STEP=", "X_JOBSET_STEP"}, Signs{}},
		"P130: what other supervisors of processes": {[]string{"READY=1", "STATUS=step 3", "MAINPID=1", "FDSTORE=1", "BARRIER=1"}, Signs{}},
		"P130: nothing, and what is no text":        {[]string{"", "\n\n", "\x00\xff=\x00", "=", "WATCHDOG"}, Signs{}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Signs
			for _, datagram := range tc.datagrams {
				got.add([]byte(datagram))
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// A look comes each second; times in these cases are seconds since the start.
func TestAHang(t *testing.T) {
	limits := protocol.Progress{StartSeconds: 60, StallSeconds: 10, MaxExtensionSeconds: 100}
	alive := Signs{Alive: true}
	at := func(step int64) Signs { return Signs{Step: step, Stepped: true} }
	extend := func(seconds int) Signs { return Signs{Extend: time.Duration(seconds) * time.Second} }
	for name, tc := range map[string]struct {
		limits protocol.Progress
		signs  map[int]Signs
		hangs  int // at this second; 0: not within 1,000
		how    protocol.Hang
	}{
		"P131: without a sign from its start":                   {limits, nil, 60, protocol.Hang{SilentSeconds: 60}},
		"P131: without a second sign":                           {limits, map[int]Signs{3: alive}, 13, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P131: a late first sign is none":                       {limits, map[int]Signs{59: alive}, 69, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P131: a sign in the last second":                       {limits, map[int]Signs{3: alive, 13: alive}, 23, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P130: another step is a sign":                          {limits, map[int]Signs{1: at(1), 8: at(2)}, 18, protocol.Hang{SilentSeconds: 10, Signed: true, Step: 2}},
		"P130: a step that falls is a sign":                     {limits, map[int]Signs{1: at(9), 8: at(2)}, 18, protocol.Hang{SilentSeconds: 10, Signed: true, Step: 2}},
		"P130: the same step again is none":                     {limits, map[int]Signs{1: at(9), 8: at(9)}, 11, protocol.Hang{SilentSeconds: 10, Signed: true, Step: 9}},
		"P130: step 0 is a sign":                                {limits, map[int]Signs{2: at(0)}, 12, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P131: an extension":                                    {limits, map[int]Signs{3: alive, 5: extend(50)}, 55, protocol.Hang{SilentSeconds: 52, Signed: true}},
		"P131: an extension never shortens":                     {limits, map[int]Signs{3: alive, 5: extend(1)}, 13, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P131: an extension before the first sign":              {limits, map[int]Signs{50: extend(50)}, 100, protocol.Hang{SilentSeconds: 100}},
		"P131: a sign within an extension does not end it":      {limits, map[int]Signs{3: alive, 5: extend(50), 6: alive}, 55, protocol.Hang{SilentSeconds: 49, Signed: true}},
		"P131: a higher step ends an extension":                 {limits, map[int]Signs{3: at(1), 5: extend(50), 6: at(2)}, 16, protocol.Hang{SilentSeconds: 10, Signed: true, Step: 2}},
		"P131: a lower step does not":                           {limits, map[int]Signs{3: at(2), 5: extend(50), 6: at(1)}, 55, protocol.Hang{SilentSeconds: 49, Signed: true, Step: 1}},
		"P131: an extension is at most so long":                 {limits, map[int]Signs{3: alive, 5: extend(1000)}, 103, protocol.Hang{SilentSeconds: 100, Signed: true}},
		"P131: extensions again and again are at most so long":  {limits, map[int]Signs{3: alive, 5: extend(90), 60: extend(90), 90: extend(90)}, 103, protocol.Hang{SilentSeconds: 100, Signed: true}},
		"P131: no extension is allowed":                         {protocol.Progress{StallSeconds: 10}, map[int]Signs{3: alive, 5: extend(50)}, 13, protocol.Hang{SilentSeconds: 10, Signed: true}},
		"P131: no limit of the start":                           {protocol.Progress{StallSeconds: 10}, nil, 0, protocol.Hang{}},
		"P131: no limit after the first sign":                   {protocol.Progress{StartSeconds: 10}, map[int]Signs{3: alive}, 0, protocol.Hang{}},
		"P130: the worker says so, without any limit":           {protocol.Progress{}, map[int]Signs{3: at(4), 7: {Stuck: true}}, 7, protocol.Hang{SilentSeconds: 4, Signed: true, Step: 4, Triggered: true}},
		"P130: the worker says so in its first second":          {protocol.Progress{}, map[int]Signs{1: {Alive: true, Stuck: true}}, 1, protocol.Hang{SilentSeconds: 1, Signed: true, Triggered: true}},
		"P131: the longest limit and the longest silence count": {protocol.Progress{StartSeconds: 1<<31 - 1, StallSeconds: 1<<31 - 1, MaxExtensionSeconds: 1<<31 - 1}, map[int]Signs{1: {Extend: maxExtend}}, 0, protocol.Hang{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch{limits: tc.limits}
			for second := 1; second <= 1000; second++ {
				var hang protocol.Hang
				w, hang = w.look(time.Second, tc.signs[second])
				if hang != (protocol.Hang{}) {
					if second != tc.hangs || hang != tc.how {
						t.Errorf("hangs at %d s: %+v, want at %d s: %+v", second, hang, tc.hangs, tc.how)
					}
					return
				}
			}
			if tc.hangs != 0 {
				t.Errorf("does not hang, want at %d s", tc.hangs)
			}
		})
	}
}

// A limit counts from when the sign came, not from the look that saw it, and ends between two beats.
func TestALimitEndsInTime(t *testing.T) {
	t.Parallel()
	w := watch{limits: protocol.Progress{StallSeconds: 2}}
	steps := []struct {
		elapsed time.Duration
		signs   Signs
		next    time.Duration
		hangs   bool
	}{
		{time.Second, Signs{Alive: true, Ago: 700 * time.Millisecond}, beat, false},                 // at 0.3 s
		{time.Second, Signs{}, 300 * time.Millisecond, false},                                       // at 2 s, deadline 2.3 s
		{200 * time.Millisecond, Signs{Alive: true, Ago: 100 * time.Millisecond}, beat, false},      // it came at 2.1 s
		{time.Second, Signs{}, 900 * time.Millisecond, false},                                       // at 3.2 s, deadline 4.1 s
		{900 * time.Millisecond, Signs{Stepped: true, Step: 1, Ago: 40 * time.Second}, beat, false}, // no earlier than the last look
		{time.Second, Signs{Extend: 1500 * time.Millisecond}, 100 * time.Millisecond, false},        // at 5.1 s, no extension is allowed
		{100 * time.Millisecond, Signs{}, beat, true},                                               // at 5.2 s
	}
	for i, step := range steps {
		var hang protocol.Hang
		if w, hang = w.look(step.elapsed, step.signs); hang.Hung() != step.hangs || w.next() != step.next {
			t.Errorf("P131: look %d: hangs %+v, next look after %s; want %v, %s", i+1, hang, w.next(), step.hangs, step.next)
		}
	}
	if got := (watch{}).next(); got != beat {
		t.Errorf("P131: without a limit it looks after %s", got)
	}
}

func TestWhatIsReportedOfAWorker(t *testing.T) {
	t.Parallel()
	at := func(step int64) Signs { return Signs{Step: step, Stepped: true} }
	for name, tc := range map[string]struct {
		signs map[int]Signs
		want  protocol.ProgressReport
	}{
		"P137: no sign":               {nil, protocol.ProgressReport{Epoch: 3, SilentMillis: 20000}},
		"P137: one sign without step": {map[int]Signs{4: {Alive: true}}, protocol.ProgressReport{Epoch: 3, StartMillis: 4000, SilentMillis: 16000}},
		"P132, P137: the longest gap is between two signs": {map[int]Signs{2: at(5), 8: at(6), 9: at(7)}, protocol.ProgressReport{
			Epoch: 3, Steps: &protocol.Steps{First: 5, Last: 7, Highest: 7}, StartMillis: 2000, LongestGapMillis: 6000, SilentMillis: 11000}},
		"P137: steps that fall": {map[int]Signs{1: at(9), 2: at(0)}, protocol.ProgressReport{
			Epoch: 3, Steps: &protocol.Steps{First: 9, Last: 0, Highest: 9}, StartMillis: 1000, LongestGapMillis: 1000, SilentMillis: 18000}},
		"P137: the highest step there is": {map[int]Signs{1: at(math.MaxInt64)}, protocol.ProgressReport{
			Epoch: 3, Steps: &protocol.Steps{First: math.MaxInt64, Last: math.MaxInt64, Highest: math.MaxInt64}, StartMillis: 1000, SilentMillis: 19000}},
	} {
		t.Run(name, func(t *testing.T) {
			var w watch
			for second := 1; second <= 20; second++ {
				w, _ = w.look(time.Second, tc.signs[second])
			}
			got := w.report(3, true)
			if !reflect.DeepEqual(*got, tc.want) {
				t.Errorf("got %+v, want %+v", *got, tc.want)
			}
			if _, err := got.Encode(); err != nil {
				t.Error(err)
			}
			if running := w.report(3, false); running.SilentMillis != 0 {
				t.Errorf("while it runs it is not said to be silent: %+v", running)
			}
		})
	}
}

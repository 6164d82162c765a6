/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// earshot is the end of a connection at which the lines of a supervisor arrive.
type earshot struct{ bytes.Buffer }

func (*earshot) Close() error                     { return nil }
func (*earshot) SetWriteDeadline(time.Time) error { return nil }

// A worker that runs has its steps told at most once a minute, so a group of any size costs ten patches of rank 0 in ten minutes.
func TestTheStepsOfAWorkerThatRunsAreTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signs func(second int) Signs
		want  int
		last  int64
	}{
		"P137: ten times in ten minutes, if it takes a step each second": {func(s int) Signs { return Signs{Step: int64(s), Stepped: true} }, 10, 600},
		"P137: once, if it takes one step":                               {func(int) Signs { return Signs{Step: 5, Stepped: true} }, 1, 5},
		"P137: again, if its step falls":                                 {func(s int) Signs { return Signs{Step: int64(600 - s), Stepped: true} }, 10, 0},
		"P137: not at all, if it tells no steps":                         {func(int) Signs { return Signs{Alive: true} }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, conn := &sight{}, &earshot{}
				s := Supervisor{Host: host, conn: conn, beat: stopped()}
				s.state.Phase, s.state.Run = Running, Run{Epoch: 3, Progress: &protocol.Progress{StallSeconds: 3600}}
				s.begin()
				for second := 1; second <= 600; second++ {
					<-s.beat.C
					host.signs = tc.signs(second)
					if hang := s.judge(); hang != nil {
						t.Fatalf("it hangs after %d s: %+v", second, *hang)
					}
				}
				told := 0
				var last protocol.Message
				for reader := protocol.NewReader(conn); ; told++ {
					m, err := reader.Next()
					if err != nil {
						break
					}
					last = m
				}
				if told != tc.want {
					t.Fatalf("told %d times, want %d", told, tc.want)
				}
				if told > 0 && (last.Type != protocol.Progressed || last.Epoch != 3 || last.Report.Steps.Last != tc.last) {
					t.Errorf("told last: %+v", last)
				}
			})
		})
	}
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/setting"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	wrong := &setting.Error{Setting: "X", Problem: "is wrong", Fix: "set it"}
	for name, tc := range map[string]struct {
		restartCode int
		outcome     Outcome
		err         error
		want        int
	}{
		"P37, C294: a wrong setting":                          {88, Outcome{}, wrong, 64},
		"P37: a wrong setting inside other errors":            {88, Outcome{}, fmt.Errorf("a: %w", errors.Join(errors.New("b"), wrong)), 64},
		"P37, C294: a restart":                                {88, Outcome{Kind: Restarted}, nil, 88},
		"P37: a restart with another code":                    {7, Outcome{Kind: Restarted}, nil, 7},
		"P37, O54: a restart with the default code":           {0, Outcome{Kind: Restarted}, nil, 88},
		"P37, O56, C295, C296: SIGTERM":                       {88, Outcome{Kind: Stopped, Cause: stopSignal{syscall.SIGTERM}}, nil, 143},
		"P37, O56, C296: SIGINT":                              {88, Outcome{Kind: Stopped, Cause: stopSignal{syscall.SIGINT}}, nil, 130},
		"P37: stopped without a signal":                       {88, Outcome{Kind: Stopped}, nil, 143},
		"P37: an unexpected error restarts in place":          {88, Outcome{}, errors.New("accept: broken"), 88},
		"P37: an unexpected error is never a success":         {0, Outcome{}, errors.New("accept: broken"), 88},
		"P37: an error is stronger than a signal":             {88, Outcome{Kind: Stopped, Cause: stopSignal{syscall.SIGTERM}}, errors.New("broken"), 88},
		"P37: no outcome at all is no success either":         {88, Outcome{}, nil, 88},
		"P37, C294: an outcome does not hide a wrong setting": {88, Outcome{Kind: Restarted}, wrong, 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(Config{RestartExitCode: tc.restartCode}, tc.outcome, tc.err); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}

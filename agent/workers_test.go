/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestWhatAHelloTells(t *testing.T) {
	exit := &protocol.Exit{Code: 1, Time: noon}
	held := protocol.Message{Type: protocol.Hello, State: protocol.Held}
	runs := func(epoch int32) protocol.Message {
		return protocol.Message{Type: protocol.Hello, State: protocol.Runs, Epoch: epoch, Bypass: epoch == 0}
	}
	ended := func(epoch int32) protocol.Message {
		return protocol.Message{Type: protocol.Hello, State: protocol.Ended, Epoch: epoch, Exit: exit}
	}
	withExit := func(w *Worker) { w.Exit = exit }
	for name, tc := range map[string]struct {
		before Worker
		hello  protocol.Message
		want   Worker
	}{
		"P65: the first one, of a supervisor that holds":                   {unseenWorker("a"), held, w("a", Idle, 0)},
		"P65: of one whose worker runs":                                    {unseenWorker("a"), runs(2), w("a", Running, 2)},
		"P65: of one whose worker runs outside of all epochs":              {unseenWorker("a"), runs(0), w("a", Running, 0)},
		"P65: of one whose worker has ended":                               {unseenWorker("a"), ended(2), w("a", Ended, 2, withExit)},
		"P62: a worker that runs still runs":                               {w("a", Running, 2), runs(2), w("a", Running, 2)},
		"P131a: one that comes back is told again":                         {w("a", Running, 2, unwatched), runs(2), w("a", Running, 2)},
		"P62: one whose start was not answered runs":                       {w("a", Starting, 2), runs(2), w("a", Running, 2)},
		"P62: one that is being stopped may not have been told":            {w("a", Stopping, 2), runs(2), w("a", Running, 2)},
		"P62: one that runs something else":                                {w("a", Starting, 2), runs(1), w("a", Running, 1)},
		"P62: one that ended meanwhile":                                    {w("a", Running, 2), ended(2), w("a", Ended, 2, withExit)},
		"P62: one that was started and ended meanwhile":                    {w("a", Starting, 2), ended(2), w("a", Ended, 2, withExit)},
		"P62: one that was stopped meanwhile":                              {w("a", Stopping, 2), ended(2), w("a", Ended, 2, withExit)},
		"P62: after start, a supervisor that was restarted: the epoch ran": {w("a", Starting, 2), held, w("a", Ended, 2)},
		"P70: a container that was killed under its worker":                {w("a", Running, 2), held, w("a", Ended, 2)},
		"P70: a container that was killed while it stopped":                {w("a", Stopping, 2), held, w("a", Ended, 2)},
		"P62: after start, one that remembers the run before":              {w("a", Starting, 3), ended(2), w("a", Idle, 3)},
		"P62: after start and stop, one that remembers the run before":     {w("a", Stopping, 3), ended(2), w("a", Ended, 2, withExit)},
		"P65: between report and start nothing has changed":                {w("a", Idle, 0), held, w("a", Idle, 0)},
		"P65: nor if the supervisor remembers the run before":              {w("a", Idle, 2), ended(2), w("a", Idle, 2)},
		"P65: nor if it was restarted since the worker ended":              {w("a", Ended, 2, withExit), held, w("a", Ended, 2, withExit)},
		"P65: nor if a worker that has ended has ended":                    {w("a", Ended, 2, withExit), ended(2), w("a", Ended, 2, withExit)},
		"P62: a held worker that runs":                                     {w("a", Idle, 0), runs(1), w("a", Running, 1)},
		"P67: done stays done":                                             {w("a", Done, 2), held, w("a", Done, 2)},
		"P70: one that was told to leave and is back is told again":        {w("a", Leaving, 2), held, w("a", Idle, 2)},
		"P70: also if its worker runs":                                     {w("a", Leaving, 2), runs(2), w("a", Running, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := noon.Add(-time.Hour)
			got, err := tc.before.Disconnected(noon).Hello(tc.hello, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P61: an unknown state", func(t *testing.T) {
		t.Parallel()
		if _, err := unseenWorker("a").Hello(protocol.Message{Type: protocol.Hello, State: "asleep"}, noon); err == nil {
			t.Error("no error")
		}
	})
}

func TestWhatAMessageTells(t *testing.T) {
	exit := &protocol.Exit{Code: 1, Time: noon}
	of := func(kind protocol.Type, epoch int32) protocol.Message {
		return protocol.Message{Type: kind, Epoch: epoch, Exit: exit, Because: "so it is"}
	}
	withExit := func(w *Worker) { w.Exit = exit }
	because := func(w *Worker) { w.Problem = "so it is" }
	for name, tc := range map[string]struct {
		before  Worker
		message protocol.Message
		want    Worker
	}{
		"P62: start is acknowledged":                               {w("a", Starting, 2), of(protocol.Running, 2), w("a", Running, 2)},
		"P62: and acknowledged again":                              {w("a", Running, 2), of(protocol.Running, 2), w("a", Running, 2)},
		"P62: after the stop was sent":                             {w("a", Stopping, 2), of(protocol.Running, 2), w("a", Stopping, 2)},
		"P62: start for an epoch that has ended":                   {w("a", Starting, 2), of(protocol.Ready, 2), w("a", Ended, 2, withExit)},
		"P62: a refused start has run: it is not sent again":       {w("a", Starting, 2), of(protocol.Refused, 2), w("a", Ended, 2, because)},
		"P64: a worker that ends":                                  {w("a", Running, 2), of(protocol.Ready, 2), w("a", Ended, 2, withExit)},
		"P63: a worker that was stopped":                           {w("a", Stopping, 2), of(protocol.Ready, 2), w("a", Ended, 2, withExit)},
		"P62: the second answer of the run before means nothing":   {w("a", Starting, 3), of(protocol.Ready, 2), w("a", Starting, 3)},
		"P62: also after the next stop":                            {w("a", Stopping, 3), of(protocol.Ready, 2), w("a", Stopping, 3)},
		"P62: ready twice is ready":                                {w("a", Ended, 2), of(protocol.Ready, 2), w("a", Ended, 2)},
		"P62: ready without a run is ready":                        {w("a", Idle, 0), of(protocol.Ready, 0), w("a", Idle, 0)},
		"P67: done":                                                {w("a", Running, 2), of(protocol.Done, 2), w("a", Done, 2, withExit)},
		"P67: done before the start was acknowledged":              {w("a", Starting, 2), of(protocol.Done, 2), w("a", Done, 2, withExit)},
		"P67: done as the answer to stop":                          {w("a", Stopping, 2), of(protocol.Done, 2), w("a", Done, 2, withExit)},
		"P70: stuck":                                               {w("a", Stopping, 2), of(protocol.Stuck, 2), w("a", Stuck, 2, because, stuckFor(0))},
		"P70b: stuck since it said so first":                       {w("a", Stuck, 2, because, stuckFor(time.Second)), of(protocol.Stuck, 2), w("a", Stuck, 2, because, stuckFor(time.Second))},
		"P70b: stuck, and told to stop":                            {w("a", Stopping, 2, because, stuckFor(time.Second)), of(protocol.Stuck, 2), w("a", Stuck, 2, because, stuckFor(time.Second))},
		"P70b: stuck, and no process is left after all":            {w("a", Stuck, 2, because, stuckFor(time.Second)), of(protocol.Ready, 2), w("a", Ended, 2, withExit)},
		"P70: stuck and told to leave":                             {w("a", Leaving, 2), of(protocol.Stuck, 2), w("a", Leaving, 2)},
		"P70: whoever was told to leave is not ready":              {w("a", Leaving, 2), of(protocol.Ready, 2), w("a", Leaving, 2)},
		"P70: but may be done":                                     {w("a", Leaving, 2), of(protocol.Done, 2), w("a", Done, 2, withExit)},
		"P70: an answer to the start that came before is no error": {w("a", Leaving, 2), of(protocol.Running, 2), w("a", Leaving, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.before.Heard(tc.message, noon)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
	for name, tc := range map[string]struct {
		before  Worker
		message protocol.Message
	}{
		"P61: hello twice":                          {w("a", Idle, 0), of(protocol.Hello, 0)},
		"P61: what an agent says":                   {w("a", Idle, 0), of(protocol.Start, 1)},
		"P62: a worker runs that nobody started":    {w("a", Idle, 0), of(protocol.Running, 1)},
		"P62: or at another epoch":                  {w("a", Running, 2), of(protocol.Running, 1)},
		"P62: or instead of the one that was asked": {w("a", Starting, 2), of(protocol.Running, 1)},
		"P62: a refusal on the way to a stop":       {w("a", Stopping, 2), of(protocol.Refused, 2)},
	} {
		t.Run(name+" ends the connection", func(t *testing.T) {
			t.Parallel()
			got, err := tc.before.Heard(tc.message, noon)
			if err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(tc.before, got); diff != "" {
				t.Errorf("the worker has changed (-want +got):\n%s", diff)
			}
		})
	}
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/supervisor/setting"
)

// fakeBarrier records its calls.
type fakeBarrier struct {
	released, closed atomic.Int32
	broken           chan error
	holdErr          error
}

func (b *fakeBarrier) Hold() (<-chan error, error) { return b.broken, b.holdErr }
func (b *fakeBarrier) Release()                    { b.released.Add(1) }
func (b *fakeBarrier) Close()                      { b.closed.Add(1) }

// agentProcess is one agent in a synctest bubble.
type agentProcess struct {
	barrier *fakeBarrier
	stop    context.CancelCauseFunc
	ended   chan struct{}
	outcome Outcome
	err     error
	log     *lockedBuffer
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// startAgent starts the agent of a Pod, waits until it is idle, and stops it at the end of the test.
func startAgent(t *testing.T, fake *fakeAPI, pod string) *agentProcess {
	t.Helper()
	cfg := testConfig
	cfg.PodName = pod
	return startAgentWith(t, fake, cfg, &fakeBarrier{})
}

func startAgentWith(t *testing.T, fake *fakeAPI, cfg Config, barrier *fakeBarrier) *agentProcess {
	t.Helper()
	a := beginAgent(t, fake, cfg, barrier)
	pass(100 * time.Millisecond)
	return a
}

// beginAgent starts an agent and does not wait.
func beginAgent(t *testing.T, fake *fakeAPI, cfg Config, barrier *fakeBarrier) *agentProcess {
	t.Helper()
	return beginAgentWithLuck(t, fake, cfg, barrier, nil)
}

// beginAgentWithLuck starts an agent with the given random numbers.
func beginAgentWithLuck(t *testing.T, fake *fakeAPI, cfg Config, barrier *fakeBarrier, luck func() float64) *agentProcess {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	a := &agentProcess{barrier: barrier, stop: stop, ended: make(chan struct{}), log: &lockedBuffer{}}
	go func() {
		defer close(a.ended)
		a.outcome, a.err = Run(ctx, cfg, Deps{
			API:     &rest.Config{Host: "http://fake", Transport: inProcess{fake}},
			Barrier: barrier,
			Log:     slog.New(slog.NewTextHandler(a.log, nil)),
			Rand:    luck,
		})
	}()
	t.Cleanup(func() {
		stop(nil)
		<-a.ended
	})
	return a
}

func (a *agentProcess) lifted() bool { return a.barrier.released.Load() > 0 }

func (a *agentProcess) running() bool {
	select {
	case <-a.ended:
		return false
	default:
		return true
	}
}

// wantRestart asserts that the agent ended because its Pod must restart in place.
func (a *agentProcess) wantRestart(t *testing.T, because string) {
	t.Helper()
	if a.running() {
		t.Fatalf("the agent still runs, want a restart because %q; log:\n%s", because, a.log)
	}
	if a.err != nil || a.outcome.Kind != Restarted || !strings.Contains(a.outcome.Cause.Error(), because) {
		t.Fatalf("the agent ended with %+v, %v; want a restart because %q", a.outcome, a.err, because)
	}
}

// want asserts that an agent runs, and whether it has lifted.
func (a *agentProcess) want(t *testing.T, lifted bool) {
	t.Helper()
	if !a.running() {
		t.Fatalf("the agent ended with %+v, %v; log:\n%s", a.outcome, a.err, a.log)
	}
	if a.lifted() != lifted {
		t.Fatalf("lifted is %v, want %v; log:\n%s", a.lifted(), lifted, a.log)
	}
}

func wantReport(t *testing.T, fake *fakeAPI, pod, epoch string) {
	t.Helper()
	if got := fake.lastReport(pod); got != epoch {
		t.Fatalf("Pod %s reports %q, want %q", pod, got, epoch)
	}
}

func TestGroupRestart(t *testing.T) {
	bubble(t, "P31 P32 P33: the picture of the package comment, step by step", func(t *testing.T, fake *fakeAPI) {
		// move plays the controller.
		move := func(deprecated, synced int32) {
			fake.set(at(deprecated, synced))
			synctest.Wait()
		}
		fake.set(at(0, 0))
		a, b := startAgent(t, fake, "a"), startAgent(t, fake, "b")
		wantReport(t, fake, "a", "1")
		wantReport(t, fake, "b", "1")
		a.want(t, false)
		b.want(t, false)
		move(0, 1)
		a.want(t, true)
		b.want(t, true)

		// The worker of a fails; the kubelet restarts all containers of a, the agent too.
		a.stop(nil)
		<-a.ended
		a = startAgent(t, fake, "a")
		wantReport(t, fake, "a", "2")
		a.want(t, false)
		b.want(t, true)

		move(1, 1)
		a.want(t, false)
		b.wantRestart(t, "epoch 1 is deprecated")
		b = startAgent(t, fake, "b")
		wantReport(t, fake, "b", "2")
		b.want(t, false)

		move(1, 2)
		a.want(t, true)
		b.want(t, true)

		for _, kind := range []string{"list", "unknown"} {
			if n := len(fake.seen(kind)); n > 0 {
				t.Errorf("%d requests of kind %s", n, kind)
			}
		}
		if watches, patches := len(fake.seen("watch")), len(fake.seen("patch")); watches != 4 || patches != 4 {
			t.Errorf("P38: %d watches and %d patches by 4 agents, want one of each by each", watches, patches)
		}
	})
}

func TestTheBypass(t *testing.T) {
	bubble(t, "P34, C280: lifts without a report and obeys nothing; its end restarts", func(t *testing.T, fake *fakeAPI) {
		off := with(at(0, 0), func(js *JobSet) { js.Disabled = true })
		fake.set(off)
		a := startAgent(t, fake, "a")
		a.want(t, true)
		off.Deprecated, off.Synced = 7, 7
		fake.set(off)
		synctest.Wait()
		a.want(t, true)
		if n := len(fake.seen("patch")); n != 0 {
			t.Errorf("%d patches during a bypass", n)
		}
		fake.set(at(7, 7))
		synctest.Wait()
		a.wantRestart(t, "it is on again")
	})
	bubble(t, "P34: stops a report under way", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(failing("patch"))
		a := startAgent(t, fake, "a")
		fake.set(with(at(0, 0), func(js *JobSet) { js.Disabled = true }))
		synctest.Wait()
		a.want(t, true)
		fake.meddle(nil)
		pass(time.Minute)
		wantReport(t, fake, "a", "")
	})
}

func TestNothingHarmsARunningWorker(t *testing.T) {
	lift := func(t *testing.T, fake *fakeAPI) *agentProcess {
		fake.set(at(0, 0))
		a := startAgent(t, fake, "a")
		fake.set(at(0, 1))
		synctest.Wait()
		a.want(t, true)
		return a
	}
	bubble(t, "P36, C279: not an hour without an API server; what was missed is obeyed then", func(t *testing.T, fake *fakeAPI) {
		a := lift(t, fake)
		fake.meddle(failing(""))
		fake.drop()
		pass(time.Hour)
		a.want(t, true)
		if lines := strings.Count(a.log.String(), "\n"); lines > 8 {
			t.Errorf("%d lines of log:\n%s", lines, a.log)
		}
		fake.set(at(1, 1))
		fake.meddle(nil)
		pass(31 * time.Second)
		a.wantRestart(t, "epoch 1 is deprecated")
	})
	bubble(t, "P36: not an answer of any kind", func(t *testing.T, fake *fakeAPI) {
		a := lift(t, fake)
		for code := 400; code < 600; code++ {
			fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
				refuse(w, code, "Reason", "it is so", 0)
				return true
			})
			fake.drop()
			pass(31 * time.Second)
		}
		a.want(t, true)
	})
	bubble(t, "hold: not the end of its JobSet, nor another one of that name", func(t *testing.T, fake *fakeAPI) {
		a := lift(t, fake)
		fake.set(with(at(1, 1), func(js *JobSet) { js.Deleting = true }))
		synctest.Wait()
		fake.remove()
		synctest.Wait()
		a.want(t, true)
		fake.set(with(at(5, 5), func(js *JobSet) { js.UID = "another" }))
		synctest.Wait()
		a.want(t, true)
	})
}

func TestTheEndOfAnAgent(t *testing.T) {
	bubble(t, "C302: an agent without a JobSet reports and lifts nothing", func(t *testing.T, fake *fakeAPI) {
		a := startAgent(t, fake, "a")
		pass(time.Hour)
		a.want(t, false)
		if n := len(fake.seen("patch")); n != 0 {
			t.Errorf("%d patches", n)
		}
		if !strings.Contains(a.log.String(), "the JobSet does not exist") {
			t.Errorf("the log does not say why it holds:\n%s", a.log)
		}
	})
	bubble(t, "O50: a JobSet of another UID than the setting says lifts nobody", func(t *testing.T, fake *fakeAPI) {
		cfg := testConfig
		cfg.JobSetUID = "older"
		fake.set(with(at(0, 0), func(js *JobSet) { js.Disabled = true }))
		a := startAgentWith(t, fake, cfg, &fakeBarrier{})
		a.want(t, false)
		fake.set(with(at(0, 0), func(js *JobSet) { js.UID = "older" }))
		synctest.Wait()
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "O50: without JOBSET_UID, a JobSet that is recreated under its name changes nothing", func(t *testing.T, fake *fakeAPI) {
		fake.owner = "ours"
		fake.set(at(0, 0))
		a := startAgent(t, fake, "a")
		fake.remove()
		fake.set(with(at(0, 1), func(js *JobSet) { js.UID = "another" }))
		pass(time.Minute)
		a.want(t, false)
		if !strings.Contains(a.log.String(), "the JobSet has UID another, this Pod belongs to ours") {
			t.Errorf("the log does not say why it holds:\n%s", a.log)
		}
	})
	bubble(t, "O50: without JOBSET_UID, an agent that meets the later JobSet first learns by its report that it is not its own", func(t *testing.T, fake *fakeAPI) {
		fake.owner = "ours"
		fake.set(with(at(0, 0), func(js *JobSet) { js.UID = "another" }))
		a := startAgent(t, fake, "a")
		fake.set(with(at(0, 1), func(js *JobSet) { js.UID = "another" }))
		pass(time.Minute)
		a.want(t, false)
		if !strings.Contains(a.log.String(), "the JobSet has UID another, this Pod belongs to ours") {
			t.Errorf("the log does not say why it holds:\n%s", a.log)
		}
	})
	bubble(t, "O50: JOBSET_UID is stronger than the label of the Pod", func(t *testing.T, fake *fakeAPI) {
		cfg := testConfig
		cfg.JobSetUID = "ours"
		fake.owner = "somebody's"
		fake.set(at(0, 0))
		a := startAgentWith(t, fake, cfg, &fakeBarrier{})
		fake.set(at(0, 1))
		synctest.Wait()
		a.want(t, true)
	})
	bubble(t, "P37: the context ends the agent, which does not lift and closes its barrier", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		a := startAgent(t, fake, "a")
		cause := errors.New("enough")
		a.stop(cause)
		<-a.ended
		if a.err != nil || a.outcome.Kind != Stopped || !errors.Is(a.outcome.Cause, cause) {
			t.Errorf("the agent ended with %+v, %v", a.outcome, a.err)
		}
		if a.lifted() || a.barrier.closed.Load() != 1 {
			t.Error("the barrier was lifted or not closed")
		}
	})
	bubble(t, "P37, C298: a barrier that cannot hold ends it before any request", func(t *testing.T, fake *fakeAPI) {
		wrong := &setting.Error{Setting: "BARRIER_PORT"}
		a := startAgentWith(t, fake, testConfig, &fakeBarrier{holdErr: wrong})
		<-a.ended
		if !errors.Is(a.err, wrong) {
			t.Errorf("error %v", a.err)
		}
		wantRequests(t, fake)
	})
	bubble(t, "P37: a barrier that breaks ends it", func(t *testing.T, fake *fakeAPI) {
		broken := errors.New("broken")
		barrier := &fakeBarrier{broken: make(chan error, 1)}
		a := startAgentWith(t, fake, testConfig, barrier)
		barrier.broken <- broken
		<-a.ended
		if !errors.Is(a.err, broken) || exitCode(testConfig, a.outcome, a.err) != 88 {
			t.Errorf("error %v", a.err)
		}
	})
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Write is one request by which a manager changes the cluster.
type Write struct {
	// Verb is create, update, patch or delete.
	Verb string
	// Status: of the subresource status.
	Status bool
	// Object as it was sent.
	Object client.Object
}

// String says what a write is: "create Job", "update JobSet status".
func (w Write) String() string {
	what := w.Verb + " " + reflect.TypeOf(w.Object).Elem().Name()
	if w.Status {
		what += " status"
	}
	return what
}

// Match selects writes.
type Match func(Write) bool

// AJobSetStatus picks the writes of a JobSet's status for which all of this holds.
func AJobSetStatus(holds ...func(*jobset.JobSetStatus) bool) Match {
	return func(w Write) bool {
		js, ok := w.Object.(*jobset.JobSet)
		if !ok || !w.Status {
			return false
		}
		for _, hold := range holds {
			if !hold(&js.Status) {
				return false
			}
		}
		return true
	}
}

// AJob picks writes of Jobs, by verb.
func AJob(verb string) Match {
	return func(w Write) bool {
		_, ok := w.Object.(*batchv1.Job)
		return ok && w.Verb == verb && !w.Status
	}
}

// AnyWrite picks all writes.
func AnyWrite(Write) bool { return true }

// Of picks writes of one kind of object, by verb.
func Of[T client.Object](verb string) Match {
	return func(w Write) bool {
		_, ok := w.Object.(T)
		return ok && w.Verb == verb && !w.Status
	}
}

// Named picks those of the matching writes that are about an object of this name.
func Named(name string, match Match) Match {
	return func(w Write) bool { return w.Object.GetName() == name && match(w) }
}

// Epochs holds of a status with these deprecated and synced epochs.
func Epochs(deprecated, synced int32) func(*jobset.JobSetStatus) bool {
	return func(s *jobset.JobSetStatus) bool {
		return ptr.Deref(s.DeprecatedEpoch, 0) == deprecated && ptr.Deref(s.SyncedEpoch, 0) == synced
	}
}

// Restarts holds of a status that counts this many restarts of the whole JobSet.
func Restarts(n int32) func(*jobset.JobSetStatus) bool {
	return func(s *jobset.JobSetStatus) bool { return s.Restarts == n }
}

var (
	errCrashed = errors.New("this manager has crashed")
	errRefused = errors.New("this write was refused by the test")
)

// Writes is the journal of what a manager changed, and the place to disturb it.
type Writes struct {
	// underway is held by each write from before it is sent until it is in the
	// journal, so that who sees its effect and then reads the journal finds it there.
	underway sync.RWMutex

	mu      sync.Mutex
	tried   []Write
	done    []Write
	held    []*Held
	refuse  Match
	before  Match
	after   Match
	crashed bool
	cancel  context.CancelFunc
	checks  []func(Write) (accepted func())
}

// CrashAfter makes the manager crash right after the first write that matches.
func (w *Writes) CrashAfter(match Match) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.after = match
}

// CrashBefore makes the manager crash instead of making the first write that matches.
func (w *Writes) CrashBefore(match Match) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = match
}

// RefuseOnce makes the first write that matches fail.
func (w *Writes) RefuseOnce(match Match) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = match
}

// Held is a write that waits, to be sent when it is released.
type Held struct {
	match    Match
	arrived  chan struct{}
	released chan struct{}
	arrive   sync.Once
	release  sync.Once
}

// Hold keeps writes that match from being sent until they are released.
func (w *Writes) Hold(match Match) *Held {
	h := &Held{match: match, arrived: make(chan struct{}), released: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = append(w.held, h)
	DeferCleanup(h.Release)
	return h
}

// Arrives waits until the manager is about to make the first such write.
func (h *Held) Arrives() {
	GinkgoHelper()
	Eventually(h.arrived).Should(BeClosed(), "the manager never reached the write to hold")
}

// Release sends the held writes, and holds no later ones.
func (h *Held) Release() { h.release.Do(func() { close(h.released) }) }

// wait holds a write back as long as the test wants that.
func (w *Writes) wait(write Write) {
	w.mu.Lock()
	held := slices.Clone(w.held)
	w.mu.Unlock()
	for _, h := range held {
		if h.match(write) {
			h.arrive.Do(func() { close(h.arrived) })
			<-h.released
		}
	}
}

// Tried returns the writes that match, whether they succeeded or not. A cache that
// lags makes a manager try a thing twice; who counts wants those that were Made.
func (w *Writes) Tried(match Match) []Write {
	w.mu.Lock()
	defer w.mu.Unlock()
	return picked(w.tried, match)
}

// Tally counts writes by what they are: "create Job", "update JobSet status".
func Tally(writes []Write) map[string]int {
	tally := map[string]int{}
	for _, write := range writes {
		tally[write.String()]++
	}
	return tally
}

func picked(all []Write, match Match) []Write {
	return slices.DeleteFunc(slices.Clone(all), func(write Write) bool { return !match(write) })
}

// Crashed reports whether the manager has crashed.
func (w *Writes) Crashed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crashed
}

// RefusalsLeft reports whether a refusal still waits for its write.
func (w *Writes) RefusalsLeft() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refuse != nil
}

// Made returns the writes that succeeded and match.
func (w *Writes) Made(match Match) []Write {
	w.underway.Lock()
	defer w.underway.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	return picked(w.done, match)
}

// EpochWrites returns the status writes of a JobSet that changed D or S.
func (w *Writes) EpochWrites(name string) []jobset.JobSetStatus {
	var changed []jobset.JobSetStatus
	var d, s int32
	for _, write := range w.Made(AJobSetStatus()) {
		js := write.Object.(*jobset.JobSet)
		nextD, nextS := ptr.Deref(js.Status.DeprecatedEpoch, 0), ptr.Deref(js.Status.SyncedEpoch, 0)
		if js.Name == name && (nextD != d || nextS != s) {
			changed = append(changed, js.Status)
			d, s = nextD, nextS
		}
	}
	return changed
}

func (w *Writes) onCrash(cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel = cancel
}

func (w *Writes) crashLocked() {
	w.crashed = true
	if w.cancel != nil {
		w.cancel()
	}
}

// pass makes a write, unless the manager is gone or the test says otherwise.
func (w *Writes) pass(write Write, send func() error) error {
	write.Object = write.Object.DeepCopyObject().(client.Object)
	w.wait(write)
	w.underway.RLock()
	defer w.underway.RUnlock()
	if err := w.begin(write); err != nil {
		return err
	}
	w.mu.Lock()
	checks := slices.Clone(w.checks)
	w.mu.Unlock()
	// Looked at before the write, as the test may act on what it sees after it.
	var accepted []func()
	for _, check := range checks {
		accepted = append(accepted, check(write))
	}
	if err := send(); err != nil {
		return err
	}
	for _, record := range accepted {
		record()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, write)
	if w.after != nil && w.after(write) {
		w.crashLocked()
	}
	return nil
}

func (w *Writes) begin(write Write) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.before != nil && w.before(write) {
		w.crashLocked()
	}
	if w.crashed {
		return errCrashed
	}
	w.tried = append(w.tried, write)
	if w.refuse != nil && w.refuse(write) {
		w.refuse = nil
		return errRefused
	}
	return nil
}

type getFunc = func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error

// watched is a client all of whose writes go through here, and which reads an object by get.
// A write that has begun is finished although the manager is told to stop: else the API server might
// have accepted it, and who saw its effect would miss it in the journal.
func (w *Writes) watched(direct client.WithWatch, get getFunc) client.Client {
	return interceptor.NewClient(direct, interceptor.Funcs{
		Get: get,
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return w.pass(Write{Verb: "create", Object: o}, func() error { return c.Create(context.WithoutCancel(ctx), o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return w.pass(Write{Verb: "delete", Object: o}, func() error { return c.Delete(context.WithoutCancel(ctx), o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return w.pass(Write{Verb: "update", Object: o}, func() error { return c.Update(context.WithoutCancel(ctx), o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return w.pass(Write{Verb: "patch", Object: o}, func() error { return c.Patch(context.WithoutCancel(ctx), o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return w.pass(Write{Verb: "update", Status: sub == "status", Object: o},
				func() error { return c.SubResource(sub).Update(context.WithoutCancel(ctx), o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.pass(Write{Verb: "patch", Status: sub == "status", Object: o},
				func() error { return c.SubResource(sub).Patch(context.WithoutCancel(ctx), o, p, opts...) })
		},
	})
}

// check adds something that looks at each write before it is made, and returns
// what to do once it was accepted.
func (w *Writes) check(check func(Write) (accepted func())) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks = append(w.checks, check)
}

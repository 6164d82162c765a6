/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// fakeLease is a Lease as it was last written.
type fakeLease struct {
	APIVersion, Kind string
	Metadata         metav1.ObjectMeta
	Spec             map[string]any
}

func (f *fakeAPI) lease(w http.ResponseWriter, r *http.Request, body []byte) {
	var lease fakeLease
	wantType := map[string]string{http.MethodPatch: "application/merge-patch+json", http.MethodPost: "application/json"}[r.Method]
	if err := json.Unmarshal(body, &lease); err != nil || r.Header.Get("Content-Type") != wantType {
		refuse(w, http.StatusBadRequest, "BadRequest", "no Lease", 0)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name := lease.Metadata.Name
	switch _, exists := f.leases[name]; {
	case r.Method == http.MethodPatch && !exists:
		refuse(w, http.StatusNotFound, "NotFound", "no such Lease", 0)
		return
	case r.Method == http.MethodPost && exists:
		refuse(w, http.StatusConflict, "AlreadyExists", "it is there", 0)
		return
	case f.leases == nil:
		f.leases = map[string]fakeLease{}
	}
	f.leases[name] = lease
	writeJSON(w, map[string]any{"kind": "PartialObjectMetadata", "metadata": map[string]any{"name": name}})
}

// leaseOf returns the Lease of Pod a.
func (f *fakeAPI) leaseOf(t *testing.T) fakeLease {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leases[facts.LeaseName("a")]
}

func wantLease(t *testing.T, fake *fakeAPI, epoch string) {
	t.Helper()
	if got := fake.leaseOf(t).Metadata.Annotations[epochKey]; got != epoch {
		t.Errorf("the Lease has epoch %q, want %q", got, epoch)
	}
}

// leasing returns a Pod whose agent reports in a Lease, and waits for the lift.
func leasing(t *testing.T, fake *fakeAPI) *crew {
	t.Helper()
	fake.set(at(0, 0))
	c := &crew{t: t, fake: fake, pod: newPod(t, "a", "x")}
	c.pod.leases = true
	c.agent = c.pod.start(t, fake)
	c.actors = append(c.actors, c.pod.supervise(t, "x"))
	return c
}

// refusing answers all requests of a kind with a code.
func refusing(code int, kinds ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		for _, kind := range kinds {
			if kindOf(r) == kind {
				refuse(w, code, "Reason", "it is so", 0)
				return true
			}
		}
		return false
	}
}

func TestTheReportInALease(t *testing.T) {
	bubble(t, "P151: the Lease is created, is the Pod's alone, and says what the Pod would", func(t *testing.T, fake *fakeAPI) {
		c := leasing(t, fake)
		got := fake.leaseOf(t)
		want := fakeLease{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Metadata: metav1.ObjectMeta{
			Name: "jobset.a", Labels: map[string]string{jobSetUIDKey: testConfig.JobSetUID}, Annotations: map[string]string{epochKey: "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "uid-of-a"}},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the Lease (-want +got):\n%s", diff)
		}
		c.wantPatches(0)
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors...)
		c.actors[0].fails(3)
		wantLease(t, fake, "2")
		if exit, err := protocol.ParseWorkerExit(fake.leaseOf(t).Metadata.Annotations[protocol.WorkerExitKey]); err != nil || exit.Code != 3 || exit.Epoch != 1 {
			t.Errorf("P66: the exit is %+v, %v", exit, err)
		}
		c.wantPatches(0)
		if n := len(fake.seen("create lease")); n != 1 {
			t.Errorf("it was created %d times", n)
		}
	})
	bubble(t, "P151: a Lease that was created meanwhile is patched", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) == "create lease" {
				fake.mu.Lock()
				fake.leases = map[string]fakeLease{"jobset.a": {}}
				fake.mu.Unlock()
			}
			return false
		})
		leasing(t, fake)
		wantLease(t, fake, "1")
		if n := len(fake.seen("patch lease")); n != 2 {
			t.Errorf("%d patches of the Lease, want 2", n)
		}
	})
	for name, code := range map[string]int{"rights, a quota or a policy": http.StatusForbidden, "a policy": http.StatusUnprocessableEntity} {
		bubble(t, "P151: refused by "+name+" the report goes to the Pod at once, and the next one to the Lease", func(t *testing.T, fake *fakeAPI) {
			fake.meddle(refusing(code, "create lease", "patch lease"))
			c := leasing(t, fake)
			wantReport(t, fake, "a", "1")
			c.wantPatches(1)
			if log := c.agent.log.String(); !strings.Contains(log, "the report in the Lease was refused, so it goes to the Pod") {
				t.Errorf("the log does not say so:\n%s", log)
			}
			c.move(at(0, 1))
			fake.meddle(nil)
			c.actors[0].fails(1)
			wantLease(t, fake, "2")
			c.wantPatches(1)
		})
	}
	bubble(t, "P36: refused in both places for an hour it is logged once, and again once it had worked", func(t *testing.T, fake *fakeAPI) {
		said := func(c *crew, want int) {
			t.Helper()
			if n := strings.Count(c.agent.log.String(), "the report in the Lease was refused"); n != want {
				t.Errorf("the log says %d times that the Lease was refused, want %d", n, want)
			}
		}
		fake.meddle(refusing(http.StatusForbidden, "create lease", "patch lease", "patch"))
		c := leasing(t, fake)
		pass(time.Hour)
		said(c, 1)
		fake.meddle(nil)
		pass(10 * time.Second)
		wantLease(t, fake, "1")
		c.move(at(0, 1))
		fake.meddle(refusing(http.StatusForbidden, "create lease", "patch lease"))
		c.actors[0].fails(1)
		wantReport(t, fake, "a", "2")
		said(c, 2)
	})
	bubble(t, "P151: a server in trouble is tried again, and the Pod is left alone", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(refusing(http.StatusServiceUnavailable, "create lease", "patch lease"))
		c := leasing(t, fake)
		pass(10 * time.Second)
		fake.meddle(nil)
		pass(10 * time.Second)
		wantLease(t, fake, "1")
		c.wantPatches(0)
	})
	bubble(t, "P151: refused in both places, the epoch is reported without the exit", func(t *testing.T, fake *fakeAPI) {
		c := leasing(t, fake)
		c.move(at(0, 1))
		fake.meddleBody(func(w http.ResponseWriter, r *http.Request, body string) bool {
			if !strings.Contains(body, protocol.WorkerExitKey) {
				return false
			}
			refuse(w, http.StatusForbidden, "Forbidden", "an older policy", 0)
			return true
		})
		c.actors[0].fails(1)
		wantLease(t, fake, "2")
		if exit := fake.leaseOf(t).Metadata.Annotations[protocol.WorkerExitKey]; exit != "" {
			t.Errorf("the exit is %s", exit)
		}
	})
	bubble(t, "P151: success is told on the Pod, in one patch with its epoch", func(t *testing.T, fake *fakeAPI) {
		c := leasing(t, fake)
		c.move(at(0, 1))
		c.actors[0].finishes()
		c.wantPatches(1)
		wantReport(t, fake, "a", "1")
		if exit := fake.lastExit("a"); !exit.Done || exit.Epoch != 1 {
			t.Errorf("the exit is %+v", exit)
		}
	})
	bubble(t, "P154: the first repeat goes to both places, later ones to the Lease", func(t *testing.T, fake *fakeAPI) {
		c := leasing(t, fake)
		pass(30 * time.Minute)
		c.wantPatches(1)
		wantReport(t, fake, "a", "1")
		if n := len(fake.seen("patch lease")); n != 9 {
			t.Errorf("%d patches of the Lease, want 9 as on the Pod (P72)", n)
		}
	})
	bubble(t, "P154: it does so where the Lease is refused", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(refusing(http.StatusForbidden, "create lease", "patch lease"))
		c := leasing(t, fake)
		pass(25 * time.Second)
		c.wantPatches(2)
	})
	bubble(t, "P154: it goes to the Pod, too, if the Lease could not be written until then", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(refusing(http.StatusServiceUnavailable, "create lease", "patch lease"))
		c := leasing(t, fake)
		pass(15 * time.Second)
		c.wantPatches(0)
		pass(15 * time.Second)
		c.wantPatches(1)
		wantReport(t, fake, "a", "1")
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors...)
	})
	bubble(t, "P154: a request for the Lease that gets no response leaves the Pod its own time", func(t *testing.T, fake *fakeAPI) {
		fake.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != "create lease" {
				return false
			}
			<-r.Context().Done()
			return true
		})
		c := leasing(t, fake)
		pass(time.Minute + 10*time.Second) // two requests for the Lease that take 30 s each, and a wait between them
		wantReport(t, fake, "a", "1")
		c.move(at(0, 1))
		wantRuns(t, c.agent, 1, c.actors...)
	})
	bubble(t, "P152: a Lease that somebody deletes is created again by the repeat", func(t *testing.T, fake *fakeAPI) {
		leasing(t, fake)
		fake.mu.Lock()
		fake.leases = nil
		fake.mu.Unlock()
		pass(23 * time.Second)
		wantLease(t, fake, "1")
	})
}

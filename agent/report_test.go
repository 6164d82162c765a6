/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheReport(t *testing.T) {
	bubble(t, "P31 O51: one merge patch, by a field manager of its own, that asks for a small answer", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(3, 4))
		startAgent(t, fake, "a")
		all := fake.seen("patch")
		if len(all) != 1 {
			t.Fatalf("%d patches, want 1", len(all))
		}
		if diff := cmp.Diff(map[string][]string{"fieldManager": {"jobset-agent"}}, map[string][]string(all[0].query)); diff != "" {
			t.Errorf("query differs (-want +got):\n%s", diff)
		}
		if got := all[0].header.Get("Accept"); !strings.Contains(got, "as=PartialObjectMetadata") {
			t.Errorf("Accept is %q", got)
		}
		wantReport(t, fake, "a", "5")
	})
	for name, code := range map[string]int{
		"the Pod is not found": 404, "a conflict": 409, "rights are missing": 403, "an admission policy": 422,
		"a full queue": 429, "a server in trouble": 500, "a token that expired": 401, "a proxy in trouble": 502,
	} {
		bubble(t, "P36, C299: it is retried and logged once: "+name, func(t *testing.T, fake *fakeAPI) {
			fake.set(at(0, 0))
			fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
				if kindOf(r) != "patch" || len(fake.seen("patch")) > 20 {
					return false
				}
				refuse(w, code, "Reason", "it is so", 0)
				return true
			})
			a := startAgent(t, fake, "a")
			pass(15 * time.Second) // 20 random waits take 46 s, and less than 20 s once in a million runs
			a.want(t, false)
			wantReport(t, fake, "a", "")
			pass(75 * time.Second)
			wantReport(t, fake, "a", "1")
			if n := strings.Count(a.log.String(), "failed, retrying"); n != 1 {
				t.Errorf("the error was logged %d times:\n%s", n, a.log)
			}
		})
	}
	bubble(t, "P36, C299: Retry-After is obeyed up to 5 s, and agents are spread over the rest", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != "patch" || len(fake.seen("patch")) > 1 {
				return false
			}
			refuse(w, http.StatusTooManyRequests, "TooManyRequests", "later", 9)
			return true
		})
		startAgent(t, fake, "a")
		pass(4900 * time.Millisecond)
		wantReport(t, fake, "a", "")
		pass(5 * time.Second)
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P36: an answer that never comes is given up after 30 s", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != "patch" || len(fake.seen("patch")) > 1 {
				return false
			}
			<-r.Context().Done()
			return true
		})
		startAgent(t, fake, "a")
		pass(31 * time.Second)
		wantReport(t, fake, "a", "1")
	})
	bubble(t, "P32: an epoch that becomes deprecated while its report is retried restarts", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(failing("patch"))
		a := startAgent(t, fake, "a")
		a.want(t, false)
		fake.set(at(1, 1))
		synctest.Wait()
		a.wantRestart(t, "epoch 1 is deprecated")
	})
	bubble(t, "P33: S reached without our report lifts only once the report is accepted", func(t *testing.T, fake *fakeAPI) {
		fake.set(at(0, 0))
		fake.meddle(failing("patch"))
		a := startAgent(t, fake, "a")
		fake.set(at(0, 1))
		pass(time.Minute)
		a.want(t, false)
		fake.meddle(nil)
		pass(6 * time.Second)
		a.want(t, true)
	})
}

// failing makes all requests of a kind fail, or all requests with "".
func failing(kind string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if kind != "" && kindOf(r) != kind {
			return false
		}
		panic(http.ErrAbortHandler)
	}
}

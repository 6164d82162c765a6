/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/restarts"
)

// boardOf is a board that has read everything there is of one JobSet.
func boardOf(in restarts.Input) *Board {
	b := NewBoard(Scope{Namespace: "research"}, func() time.Time { return now })
	b.Replace(JobSets, []metav1.Object{in.JobSet})
	b.Replace(Jobs, objects(in.Jobs))
	b.Replace(Pods, objects(in.Pods))
	b.Replace(Events, objects(in.Events))
	b.Replace(JobEvents, objects(in.JobEvents))
	b.Replace(Nodes, nil)
	return b
}

func objects[T any, P interface {
	*T
	metav1.Object
}](list []T) []metav1.Object {
	var all []metav1.Object
	for i := range list {
		all = append(all, P(&list[i]))
	}
	return all
}

func TestTheServerAnswersOnlyThoseWhoKnowThePath(t *testing.T) {
	t.Parallel()
	s := NewServer(boardOf(input(training(1, 1, 2).Obj(), 2)))
	tests := map[string]struct {
		method, host, path string
		code               int
	}{
		"the page":                         {path: s.Path(), code: 200},
		"its style":                        {path: s.Path() + "style.css", code: 200},
		"its program":                      {path: s.Path() + "page.js", code: 200},
		"through a port that is forwarded": {host: "localhost:9999", path: s.Path(), code: 200},
		"without the path":                 {path: "/", code: 404},
		"with another path":                {path: "/" + strings.Repeat("A", len(s.token)) + "/", code: 404},
		"for events with another path":     {path: "/x/events", code: 404},
		"for a file that does not exist":   {path: s.Path() + "secret", code: 404},
		"for what is above":                {path: s.Path() + "../server.go", code: 404},
		"by a name that is not ours":       {host: "evil.example:80", path: s.Path(), code: 403},
		"by a name that begins like ours":  {host: "localhost.evil.example", path: s.Path(), code: 403},
		"that would write":                 {method: http.MethodPost, path: s.Path(), code: 405},
		"that would write to events":       {method: http.MethodPost, path: s.Path() + "events", code: 405},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:1"+"/", nil)
			if r.URL.Path = tc.path; tc.host != "" {
				r.Host = tc.host
			}
			if tc.method != "" {
				r.Method = tc.method
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != tc.code {
				t.Errorf("code is %d, want %d", w.Code, tc.code)
			}
			if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
				t.Errorf("the policy is %q", csp)
			}
			if cache := w.Header().Get("Cache-Control"); tc.code == 200 && cache != "no-store" {
				t.Errorf("Cache-Control is %q", cache)
			}
		})
	}
}

func TestThePathForABrowserIsExchangedForACookieOnce(t *testing.T) {
	t.Parallel()
	s := NewServer(boardOf(input(training(1, 1, 2).Obj(), 2)))
	get := func(method, path string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1"+path, nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := get(http.MethodPost, s.OncePath()); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("C380: a request that would write gets %d", w.Code)
	}
	first := get(http.MethodGet, s.OncePath())
	if first.Code != http.StatusOK || !strings.Contains(first.Body.String(), `content="0;url=`+s.openedPath()+`"`) {
		t.Fatalf("C380: the answer is %d, %s", first.Code, first.Body)
	}
	if answer := fmt.Sprint(first.Header(), first.Body); strings.Contains(answer, s.token) {
		t.Errorf("C380: whoever sees the answer could read the page without the cookie: %s", answer)
	}
	cookies := first.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != s.openedPath() {
		t.Fatalf("C380: the cookies are %v", cookies)
	}
	if second := get(http.MethodGet, s.OncePath(), cookies...); second.Code != http.StatusNotFound || len(second.Result().Cookies()) > 0 {
		t.Errorf("C380: the second visitor gets %d", second.Code)
	}
	forged := *cookies[0]
	forged.Value = strings.Repeat("A", len(forged.Value))
	for _, tc := range []struct {
		path    string
		cookies []*http.Cookie
		code    int
	}{
		{s.openedPath(), cookies, http.StatusOK},
		{s.openedPath() + "page.js", cookies, http.StatusOK},
		{s.openedPath(), nil, http.StatusNotFound},
		{s.openedPath() + "events", nil, http.StatusNotFound},
		{s.openedPath(), []*http.Cookie{&forged}, http.StatusNotFound},
		{"/", cookies, http.StatusNotFound},
	} {
		if w := get(http.MethodGet, tc.path, tc.cookies...); w.Code != tc.code {
			t.Errorf("C380: %s with cookies %v: code is %d, want %d", tc.path, tc.cookies, w.Code, tc.code)
		}
	}
}

// following opens the events of a page, and returns them.
func following(t *testing.T, s *Server, query string) <-chan Delta {
	t.Helper()
	web := httptest.NewServer(s)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(web.Close)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+s.Path()+"events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	deltas := make(chan Delta, 100)
	go func() {
		defer close(deltas)
		defer func() { _ = answer.Body.Close() }()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var d Delta
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &d) == nil {
				deltas <- d
			}
		}
	}()
	return deltas
}

func next(t *testing.T, deltas <-chan Delta) Delta {
	t.Helper()
	select {
	case d, ok := <-deltas:
		if !ok {
			t.Fatal("the stream ended")
		}
		return d
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was sent")
	}
	panic("unreachable")
}

func TestAPageIsSentAllAtFirstAndThenWhatChanged(t *testing.T) {
	t.Parallel()
	in := input(training(3, 1, 2).Obj(), 2, 2, 2)
	b := boardOf(in)
	deltas := following(t, NewServer(b), "?jobset=research/train")
	first := next(t, deltas)
	if !first.Full || first.Detail == nil || first.Detail.ID != "research/train" || len(first.Cells) != 3 {
		t.Fatalf("the first message is %+v", first)
	}
	pod := in.Pods[1].DeepCopy()
	pod.Spec.NodeName = ""
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "1"}
	b.Put(pod)
	second := next(t, deltas)
	if second.Full || len(second.Cells) != 1 || second.Cells[1].State != restarts.Unscheduled {
		t.Errorf("the second message is %+v, want cell 1 alone", second)
	}
	b.Remove(in.JobSet)
	if third := next(t, deltas); third.Detail == nil || third.Detail.ID != "" || third.Size == nil || *third.Size != 0 {
		t.Errorf("the third message is %+v, want none", third)
	}
}

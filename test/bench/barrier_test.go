/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http"
	"testing"
	"testing/synctest"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/test/supervised"
)

func TestABarrierInMemoryAnswersProbesAsOneOnAPortDoes(t *testing.T) {
	synctest.Test(t, answersProbes)
}

func answersProbes(t *testing.T) {
	f := &fleet{probes: supervised.Pipes()}
	client := &http.Client{Transport: &http.Transport{DialContext: f.dialProbe(), DisableKeepAlives: true}}
	probe := func(query string) int {
		response, err := client.Get("http://127.0.0.1:9440" + agent.BarrierPath + query)
		if err != nil {
			return 0
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	b := f.barrierOf(agent.Config{BarrierAddress: "127.0.0.1", BarrierPort: 9440})
	if got := probe(""); got != 0 {
		t.Errorf("before it holds, a probe gets %d, want no connection", got)
	}
	if _, err := b.Hold(); err != nil {
		t.Fatal(err)
	}
	if got := probe(""); got != http.StatusServiceUnavailable {
		t.Errorf("while it holds, a probe gets %d, want 503", got)
	}
	waiting := make(chan int, 1)
	go func() { waiting <- probe("?wait=60") }()
	synctest.Wait()
	if len(waiting) > 0 {
		t.Error("a probe that waits is answered before the release")
	}
	b.Release()
	if got := <-waiting; got != http.StatusOK {
		t.Errorf("a probe that waits gets %d at the release, want 200", got)
	}
	b.Close()
	if got := probe(""); got != 0 {
		t.Errorf("after its end, a probe gets %d, want no connection", got)
	}
}

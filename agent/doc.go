/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package agent is the process that runs beside the worker in every Pod of a JobSet whose
// restart strategy is InPlaceRestart. It holds the worker at a barrier until the whole
// group of workers is back, and restarts its Pod in place when the group must restart.
// It reads one JobSet, writes one annotation of its own Pod, and keeps no state: a new
// agent process always means that no older worker runs in this Pod.
//
// # The protocol
//
// Each worker belongs to an epoch, the annotation on its Pod. The status of the JobSet has
// two numbers, which only grow. S, the synced epoch, is the last at which the whole group
// stood; workers of that epoch may run. D, the deprecated epoch: workers of an epoch <= D
// must restart. While D < S the group runs; while D == S it assembles.
//
// Two Pods, a and b, run at epoch 1, and the worker of a fails:
//
//	 a         b        D  S
//	 1 runs    1 runs   0  1
//	 |         |
//	 x         |                  the worker of a exits; the kubelet restarts all containers of a
//	(1)        |        0  1      the agent of a starts, holds its worker, and reads the JobSet
//	(2)        |                  it chooses epoch S+1 = 2
//	(3) 2 -----|----------> ctl   it reports 2 on its Pod
//	 |         |        1  1      the controller breaks: someone is at S+1, so D := S
//	 |        (4) <-------- ctl   the agent of b reads 1 <= D and exits with the restart code;
//	 |         x                  the kubelet restarts all containers of b
//	 |        (1)       1  1      the agent of b starts, holds its worker, and reads the JobSet
//	 |        (2)                 it chooses epoch S+1 = 2
//	 |        (3) 2 -------> ctl  it reports 2 on its Pod
//	 |         |        1  2      the controller lifts: all are at S+1, so S := S+1
//	(5) <-----(5) <-------- ctl   both agents read epoch == S and release their workers
//	 |         |
//	 2 runs    2 runs   1  2
//
// Who moves next: in (1) to (3) the agent that started, nobody waits for anybody. After (3)
// the controller, to break if the group runs and to lift if all have reported. In (4) every
// agent whose epoch is deprecated, each for itself. In (5) all. An agent never waits for
// another agent, and never writes what another one reads.
//
// The first read in (1) must not be stale, or a would choose the epoch that its worker has
// just failed in and run on alone; see watch.go. Step (4) is looked at before step (5),
// because right after a break D == S. An agent that finds in-place restart switched off
// goes straight to (5) without (2) and (3), and restarts when it is switched on again. All
// of this is Decide, a function of values; Run feeds it and does what it says.
//
// How a worker is held and released is behind the interface Barrier. Its implementation
// here is a startup probe: the agent is an init container that restarts always, and the
// kubelet starts no further container before its probe succeeds.
//
// # The budget
//
// Thousands of agents start at one moment, several on one node, so a start has a budget:
// two requests, 100 ms from exec to the report on an idle machine, 40 ms of CPU, 15 MB of
// static binary, 20 MiB of resident memory. Of client-go this package therefore uses the
// configuration and the transport (credentials that rotate, TLS, HTTP/2 with pings), and
// decodes the few JSON fields it needs itself. What that choice rests on, for a program
// that links the packages and decodes one object, without any of the code here (linux/amd64,
// Go 1.26, CGO_ENABLED=0 go build -trimpath -ldflags "-s -w", median of 30 starts):
//
//	                                             binary     CPU of main()  resident
//	net/http alone                                6.5 MB    2.2 ms          4.7 MiB
//	client-go/rest and clientcmd                 11.0 MB    3.1 ms          9.0 MiB   chosen
//	the same and this API's types                14.7 MB    3.4 ms          9.7 MiB
//	the same and client-go's clientset           27.0 MB    6.3 ms         17.9 MiB
//
// Plain net/http would save 4.5 MB and cost a kubeconfig loader, token reloading and TLS
// set-up of our own. The API's types would leave no room to grow, hence wire.go.
//
// The whole agent has 11.1 MB. A start takes, on a busy machine of two cores, against a
// real API server of 1.36, with the random delay of up to 50 ms before the first request
// included: 44 ms (median) from exec to the report, 7.5 ms of CPU, 13.5 MiB resident;
// with GOMAXPROCS=64 9 ms and 14.7 MiB; with a JobSet of 660 kB 21 ms and 17 MiB. To
// measure again, against a fake API server behind TLS and HTTP/2:
//
//	go test -run '^$' -bench Start -benchtime 40x ./agent
package agent

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package agent is the process that runs beside the worker in every Pod of a JobSet whose
// restart strategy is InPlaceRestart. It holds the worker at a barrier until the whole
// group of workers is back, and restarts its Pod in place when the group must restart.
// It reads one JobSet, writes at most three annotations of its own Pod, and keeps no state.
//
// There are two modes. In container mode the agent ends when its Pod must restart, and the kubelet
// restarts all containers: a new agent process always means that no older worker runs in this
// Pod. In process mode the agent stays, and a supervisor in each worker container restarts the
// worker; see below.
//
// # The protocol
//
// Each worker belongs to an epoch, the annotation on its Pod. The status of the JobSet has
// two numbers, which only grow. S is the synced epoch, the last one that the whole group
// reached; workers of that epoch may run. D is the deprecated epoch: workers of an epoch <= D
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
// Who acts next? In (1) to (3) the agent that started, without waiting for anybody. After (3)
// the controller: it breaks a group that runs, and lifts one that has reported completely. In (4)
// every agent whose epoch is deprecated, independently. In (5) all. An agent never waits for
// another agent, and never writes what another one reads.
//
// The first read in (1) must not be stale, or a would choose the epoch that its worker has
// just failed in and run on alone; see watch.go. Step (4) is checked before step (5),
// because right after a break D == S. An agent that finds in-place restart disabled
// goes straight to (5) without (2) and (3), and restarts when it is enabled again. All
// of this is Decide, a pure function; Run calls it and performs its actions.
//
// How a worker is held and released in container mode is behind the interface Barrier. Its
// implementation here is a startup probe: the agent is a sidecar, an init container with restartPolicy Always, and
// the kubelet starts no further container before its probe succeeds. Package internal/probe
// protects the port of that probe.
//
// # Process mode
//
// A supervisor is the first process of each worker container. It starts the worker as its child, and stops it with
// all its descendants. Agent and supervisors talk over a Unix socket in a volume that the
// containers of the Pod share, in the messages of supervisor/protocol. The controller sees the same protocol
// as in container mode, and restarts cost no kubelet:
//
//	agent (sidecar)                    supervisor (in each container)     worker
//	  |<------- hello: held ---------------|
//	  | reports S+1 = 2, when all are ready
//	  |  ...the controller lifts...
//	  |-------- start epoch 2 ------------>|-- fork, exec ----------------->|
//	  |<------- running epoch 2 -----------|                                |
//	  |                                    |<-- exit 1 ---------------------x
//	  |<------- ready: epoch 2, code 1 ----| kills what is left of it
//	  | reports S+1 = 3, and the exit
//	  |  ...break: the other agents send stop, their supervisors answer ready, they report 3; lift...
//	  |-------- start epoch 3 ------------>|-- fork, exec ----------------->|
//
// So one agent process lives through many rounds. A round begins with a report, and is over when its
// epoch is deprecated or a worker of this Pod ends; then all workers are stopped, and the next round
// begins when none is left. Worker is what the agent knows of one worker; its methods are what
// a message, a connection and its end tell. Decide says what to do next, and
// View.Apply what that changes and which messages it sends. All of them are pure. Three rules keep two
// epochs apart, whatever crashes or gets lost in between:
//
//   - A start counts as a running worker from the moment it is written until its supervisor answers. If
//     the supervisor says hello instead and knows of no run, it was restarted: the epoch has
//     run, and is over. It is never started again (P62).
//   - An agent that starts asks and does not guess. If all workers run at one epoch that may run, it goes
//     on as if it had started them; if none runs, it begins a round; else it stops them first (P65).
//     A worker that has lost its agent runs on.
//   - A Pod that cannot go on, because a process cannot be killed, a container is done while another one
//     must run again, or one stays away, is left for good: the decision is in a file of the shared volume
//     before the first supervisor hears of it, so that a later agent neither forgets nor reports (P70).
//
// Files: workers.go, rounds.go (Decide), apply.go; and around them supervisors.go (who is connected, and
// the files), socket.go (connections) and process_mode.go (the loop).
//
// # The budget
//
// Thousands of agents start at the same moment, several of them on one node, so a start has a budget:
// two requests, 100 ms from exec to the report on an idle machine, 40 ms of CPU, 15 MB of
// static binary, 20 MiB of resident memory. Of client-go this package therefore uses the
// configuration and the transport (credentials that rotate, TLS, HTTP/2 with pings), and
// decodes the few JSON fields it needs itself. The measurements behind that choice, for a program
// that links the packages and decodes one object, without any of the code here (linux/amd64,
// Go 1.26, CGO_ENABLED=0 go build -trimpath -ldflags "-s -w", median of 30 starts):
//
//	                                             binary     CPU of main()  resident
//	net/http alone                                6.5 MB    2.2 ms          4.7 MiB
//	client-go/rest and clientcmd                 11.0 MB    3.1 ms          9.0 MiB   chosen
//	the same and this API's types                14.7 MB    3.4 ms          9.7 MiB
//	the same and client-go's clientset           27.0 MB    6.3 ms         17.9 MiB
//
// Plain net/http would save 4.5 MB, but need a kubeconfig loader, token reloading and TLS
// set-up of our own. The API's types would leave no room to grow, hence wire.go.
//
// In process mode an agent has one watch as long as it lives, and a restart costs it one patch. It wakes
// up by itself only while a supervisor is away or a report is to be repeated (P72, P73).
//
// The binary of the agent has 10.9 MB. A start takes, on a busy machine of two cores, against a
// real API server of 1.36, with the random delay of up to 50 ms before the first request
// included: 44 ms (median) from exec to the report, 7.5 ms of CPU, 13.5 MiB resident;
// with GOMAXPROCS=64 9 ms and 14.7 MiB; with a JobSet of 660 kB 21 ms and 17 MiB. To
// measure again, against a fake API server behind TLS and HTTP/2:
//
//	go test -run '^$' -bench 'Start|Listen' -benchtime 40x ./agent
//
// The agent listens 10 ms after exec (median on a busy machine; 4 ms at best), before it
// reads credentials. So workers do not wait because of a refused probe: a kubelet (1.36)
// probes only once its relist, once a second, has shown the container as running, and then at
// the next tick of its probe, whose phase was set when the Pod started. After the probe
// has succeeded it syncs the Pod only on a relist newer than the last sync (GetNewerThan in
// pod_workers.go). So a worker that is lifted within about a second of the start of its
// agent waits up to a second for the kubelet. One that was held for longer starts within
// 0.35 s, most of which is the creation of the container.
package agent

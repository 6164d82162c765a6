/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package supervisor is the first process of a worker's container in process mode. It runs the command of the
// container as its child, ends it with all its descendants, and runs it again, without a restart of the container. The agent of
// the Pod says when, over a socket in a volume that both share; see package protocol for the messages. The
// supervisor holds no token and talks to no one else.
//
//	agent                          supervisor                              worker
//	  |<------ hello: held ------------|                                      one hello on each connection
//	  |------- start: epoch 2 -------->|---- fork, exec --------------------->|
//	  |<------ running: 2 -------------|                                      |
//	  |                                |<--------------------------- exit 1 --x
//	  |                                |---- SIGKILL to what it left
//	  |                                |     behind, until none is left
//	  |<------ ready: 2, code 1 -------|
//	  |------- start: epoch 3 -------->|---- fork, exec --------------------->|
//	  |<------ running: 3 -------------|                                      |
//	  |------- stop ------------------>|---- SIGTERM (container.Signal) ----->|
//	  |                                |     after the grace, SIGKILL to all;
//	  |                                |     earlier if none is left
//	  |<------ ready: 3, stopped ------|                                      x
//	  |------- start: epoch 4 -------->|---- fork, exec --------------------->|
//	  |<------ running: 4 -------------|                                      |
//	  |                                |<--------------------------- exit 0 --x
//	  |                                |---- writes the file done.CONTAINER
//	  |<------ done: 4 ----------------|
//	  |                                x exit 0
//
//	  |------- leave ----------------->|---- as stop ------------------------>|
//	                                   x exit 65: the Pod is replaced         x
//
// # States
//
//	          start               exit unasked, or the grace is over     none is left
//	held ---------------> running ----------------------------> killing ----------------> ended
//	                         ^                                     | 10 s                   |
//	                         |                                     v                        |
//	                         |                       exit 65 <-- stuck -------------------->|
//	                         +-------------------------- start of another epoch ------------+
//
// In every state SIGTERM, SIGINT and SIGQUIT end the supervisor, once the worker has (P69). A worker that was told to end is
// running until no process of it is left or its grace is over, even if its main process was a shell that ended at once (P63a). A
// signal of the kubelet takes the place of a stop: its grace counts from then on (P69a). Who acts next? The agent
// in held and ended; the worker in running; only time in killing and stuck. A supervisor that loses its
// agent stays in its state, connects again, and says hello with what has become of its worker.
// Messages on the old connection are obeyed before that hello or not at all.
//
// Step decides what happens because of an event. It is a pure function of the state. Supervisor is the
// loop around it; what it does to processes is behind the interface Host. The order in that loop matters:
// it looks whether the worker has ended before it handles a message, a signal or a timer, so that a worker that finished
// by itself is never taken for one that was told to stop (P67).
//
// # Standbys
//
// Where warm start is on (P160), a second copy of the program waits at a gate while the first one works:
//
//	agent                 supervisor                    worker of epoch 2        standby
//	  |-- start: 2 --------->|---- parent, gate ----------->|                      each program has a parent of its own
//	  |                      |---- line of epoch 2 -------->| reads its gate
//	  |                      |---- 30 s later ------------------------------------>| imports, waits at its gate
//	  |-- stop ------------->|---- SIGTERM ---------------->x
//	  |<- ready: 2 ----------|
//	  |-- start: 3 --------->|---- line of epoch 3 ------------------------------->| is the worker of epoch 3
//	  |<- running: 3, warm --|
//
// Step treats a standby as no worker: no phase depends on it, and whatever becomes of it, a start is cold instead. Type warm is
// the Host then. Each program runs below a process of this program in another role, a subreaper that ends when nothing is
// left below it, so that the end of one tree is known without the other (P162).
//
// # Processes
//
// As the first process of its PID namespace a supervisor becomes the parent of all orphans, and so no descendant
// escapes by a session or a process group of its own. Elsewhere it asks for that (PR_SET_CHILD_SUBREAPER), which is how tests run it. There
// is one place that waits for children, container.Look; os/exec would compete with it. Processes that kubectl exec
// and probes start have no parent in the namespace and are left alone. See killer for workers that fork faster
// than their processes are found.
//
// # The budget
//
// Every worker of a group has a supervisor, so it has to be small and fast (P61). Median and highest value of 40 starts, and
// of 3,000 restarts of a worker that does nothing, on two cores that had ten times as much to do (linux/amd64, Go 1.26);
// the second column with GOMAXPROCS=64, as on a larger node:
//
//	binary                                         2.6 MB                            budget 4 MB
//	exec of the supervisor to exec of the worker   4.4 ms, 16.9 ms   6.6 ms, 13.9 ms   budget 10 ms
//	stop to exec of the next worker                1.1 ms, 19.9 ms   1.9 ms, 60.6 ms
//	resident when the worker has run twice         3.4 MiB           4.8 MiB           budget 6 MiB
//	resident after 3,000 restarts                  5.5 MiB           5.5 MiB
//
// Half of what is resident is the binary, so a package less is memory less.
//
// To measure again:
//
//	go test -run '^$' -bench Start -benchtime 40x ./supervisor
//	go test -run '^$' -bench Restart -benchtime 3000x ./supervisor
package supervisor

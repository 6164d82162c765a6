/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simnode is test equipment: a simulated node that runs Pods as processes or functions of this machine, beside a
// real API server and without root, container runtime or images. It exists so that tests and demos can see a Pod fail,
// restart in place, end and be deleted exactly as a kubelet would show it. There is no isolation of any kind: never run
// a Pod here that you would not run in your shell.
//
// Its behaviour was compared with measurements of a kubelet v1.36.3. The hard part is RestartAllContainers. Below, agent
// is a sidecar with a startup probe and worker a container with rule RestartAllContainers on exit codes NotIn [0]:
//
//	 API shows             agent                worker                    what the node does
//	 --------------------  -------------------  ------------------------  -----------------------------------------
//	 Running               running, ready       running                   worker exits 1, seen at the next relist
//	1 Running  Restarting* running              terminated, exit code 1   agent: TERM, KILL after 2 s; both removed,
//	                                                                      the one that asked for it last
//	2 Running              waiting**  137       waiting**  137            restartCount+1 of whatever had run;
//	                                                                      agent starts: same Pod, IP and PodDir
//	3 Pending              running              waiting, PodInitializing  startup probe asks
//	4 Pending              running, started     waiting                   probe succeeded
//	5 Running              running, ready       waiting                   worker starts
//	6 Running              running, ready       running
//
//	 *  condition AllContainersRestarting is True only here, and only here is the real exit code to be seen
//	 ** reason RestartingAllContainers; 137 is lastState, with the same reason, for the one that failed as well
//
// There is no backoff in this, the grace period of the Pod does not count, and the phase is decided before the rules:
// when the worker exits 0 the Pod succeeds, whatever code the agent answers TERM with. Nothing restarts in a Pod that
// is being deleted.
//
// How it is built: every Pod has one worker (worker.go). Its loop takes a view of the Pod as plain values (view.go),
// computes the status from it (status.go, phase.go, conditions.go), decides (next.go, rules.go, backoff.go) and only
// then acts (perform.go, container.go). Statuses are written beside it, in order (statuswriter.go).
//
// Honoured: order of init containers, sidecars, httpGet startup probes (named ports; a long poll
// is one probe), restart policies of Pod and container, restartPolicyRules, crash-loop backoff,
// terminationGracePeriodSeconds, order of termination, deletion with grace, literal and fieldRef
// environment, $(VAR) in command and args, emptyDir as a directory (VolumeDir) whose path replaces that of its mount in
// command, args and environment, tokens bound to the Pod (TokenOptions).
//
// Refused, with a waiting reason that says so: other probes, lifecycle hooks but postStart exec, envFrom and other
// sources of environment, and mounts of volumes other than emptyDir, projected, downwardAPI and configMap.
//
// Left out: mounts (also of the volumes just named), images, users, security contexts, resource limits, network
// namespaces (every Pod has a loopback address its processes must bind themselves), DNS, admission by resources,
// readiness gates, activeDeadlineSeconds, ephemeral containers, changes of a running Pod's image, stop signals other than TERM, events,
// logs through the API, eviction. The service account's own automount switch is not read. A deletion whose grace is
// shortened while it runs keeps the longer grace, unless the Pod is removed at once. A process without a TERM handler
// dies of TERM here, while as process 1 of a container it would ignore it. Children of a process that left its session
// are not found.
//
// A node that stops kills its containers and reports nothing, like a machine that loses power. One of the same name that
// starts again knows nothing of Pods that ran there: give it another name.
package simnode

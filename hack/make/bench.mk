# What JobSet costs, and how fast it restarts, see docs/performance.md. Included from Makefile.

##@ Performance

BENCH_HISTORY ?= docs/figures.tsv## table to which `make bench`, `bench-rest`, `bench-lost`, `bench-restart`, `bench-reports` and `bench-scale` append their figures; empty for none
BENCH_JOBS ?= 100 500 1000 2000## numbers of Jobs to measure in `make bench`
BENCH_REPEAT ?= 3## number of measurements of each in `make bench`; the median counts
BENCH_RATE ?= 100## status updates of Jobs per second while `make bench` measures
BENCH_PROFILES ?=## directory for CPU and allocation profiles of `make bench`

.PHONY: bench
bench: cluster ## Measure CPU and allocations of the controller per Job; fails if they do not grow linearly
	go test -run='^$$' -bench=DecideJobs -benchtime=200ms ./pkg/policy
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench start \
	  --jobs='$(BENCH_JOBS)' --repeat='$(BENCH_REPEAT)' --rate='$(BENCH_RATE)' --profiles='$(BENCH_PROFILES)' --history='$(BENCH_HISTORY)'

BENCH_JOBSETS ?= 1000## number of JobSets at rest in `make bench-rest`
BENCH_NODES ?= 5000## number of nodes whose heartbeats `make bench-rest` measures

.PHONY: bench-rest
bench-rest: cluster ## Measure JobSets at rest with and without faultTolerance, and heartbeats of nodes; fails if a heartbeat makes a pass
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench rest \
	  --jobsets='$(BENCH_JOBSETS)' --nodes='$(BENCH_NODES)' --history='$(BENCH_HISTORY)'

BENCH_LOST_WORKERS ?= 1000## number of workers, each on a node of its own, in `make bench-lost`

.PHONY: bench-lost
bench-lost: cluster ## Measure what it costs the manager to replace workers on lost nodes
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench lost --workers='$(BENCH_LOST_WORKERS)' --history='$(BENCH_HISTORY)'

N ?= 100 500 1000## numbers of workers to measure in `make bench-restart`
BENCH_RESTARTS ?= 5## number of restarts of each kind in `make bench-restart`; the median counts
BENCH_DEFAULT_RESTARTS ?= 5## the same for Recreate with default limits, which is slow; 0 skips it
BENCH_REPORTS ?= Auto## where agents in process mode report in `make bench-restart`: Auto, Pod, Lease, or several of them
BENCH_PROGRESS ?= off## whether workers in process mode give signs of life in `make bench-restart`: off, on, or both
BENCH_WATCH_FOR ?= 0## how long `make bench-restart` watches a group whose workers give signs before its restarts, e.g. 10m; fails if others than rank 0 write
MODE ?= container## what `make bench-restart` measures: container, or process: process mode beside container mode and a tuned Recreate, above 1,000 workers alone; both: both modes, at any size
BENCH_API_PROFILES ?=## directory for CPU profiles of kube-apiserver, of one more restart of each group in `make bench-restart`, and of 1,000 workers in `make bench-reports`
BENCH_JOBS_PER_GROUP ?= 10## number of Jobs that the workers are spread over in `make bench-restart`

.PHONY: bench-restart
bench-restart: build cluster ## Measure a group restart, in place and by Recreate (MODE); writes bin/bench-restart.md, fails if a budget is exceeded
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench restart \
	  --workers='$(N)' --restarts='$(BENCH_RESTARTS)' --default-restarts='$(BENCH_DEFAULT_RESTARTS)' --jobs='$(BENCH_JOBS_PER_GROUP)' --mode='$(MODE)' --reports='$(BENCH_REPORTS)' --progress='$(BENCH_PROGRESS)' --watch-for='$(BENCH_WATCH_FOR)' --profiles='$(BENCH_API_PROFILES)' --history='$(BENCH_HISTORY)'

.PHONY: bench-reports
bench-reports: N = 100 256 1000 5000
bench-reports: build cluster ## Measure restarts with reports on Pods and in Leases in turns, and a tuned Recreate of 1,000; writes bin/bench-reports.md (20 minutes on 2 cores)
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench restart --mode=turns --report=bin/bench-reports.md \
	  --workers='$(N)' --restarts='$(BENCH_RESTARTS)' --jobs='$(BENCH_JOBS_PER_GROUP)' --profiles='$(BENCH_API_PROFILES)' --history='$(BENCH_HISTORY)'

SCALE ?= group jobsets bringup## what `make bench-scale` measures: restarts of one group of N (group); many JobSets, and losses (jobsets), or only that of the API server (return); one JobSet of many Jobs (bringup)
SCALE_JOBSETS ?= 1000## number of JobSets in `make bench-scale`
SCALE_PODS ?= 10## number of workers of each of them
SCALE_JOBS ?= 5000 10000## numbers of Jobs of one JobSet in `make bench-scale`
SCALE_ONLY ?=## only this mode in `make bench-scale SCALE=group`: container or process

.PHONY: bench-scale
bench-scale: N = 1000 5000
bench-scale: BENCH_RESTARTS = 3
bench-scale: build cluster ## Measure large groups in both modes, many JobSets, and JobSets of many Jobs (SCALE); writes bin/bench-scale.md (hours on 2 cores)
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench restart --mode=both --report=bin/bench-scale.md \
	  --scale='$(SCALE)' --only='$(SCALE_ONLY)' --workers='$(N)' --restarts='$(BENCH_RESTARTS)' --jobs='$(BENCH_JOBS_PER_GROUP)' --profiles='$(BENCH_API_PROFILES)' --history='$(BENCH_HISTORY)' \
	  --scale-jobsets='$(SCALE_JOBSETS)' --scale-pods='$(SCALE_PODS)' --scale-jobs='$(SCALE_JOBS)'

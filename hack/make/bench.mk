# The cost of starting a JobSet, see docs/performance.md. Included from Makefile.

##@ Performance

BENCH_JOBS ?= 100 500 1000 2000## numbers of Jobs to measure in `make bench`
BENCH_REPEAT ?= 3## number of measurements of each in `make bench`; the median counts
BENCH_RATE ?= 100## status updates of Jobs per second while `make bench` measures
BENCH_PROFILES ?=## directory for CPU and allocation profiles of `make bench`

.PHONY: bench
bench: cluster ## Measure CPU and allocations of the controller per Job; fails if they do not grow linearly
	go test -run='^$$' -bench=DecideJobs -benchtime=200ms ./pkg/policy
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench \
	  --jobs='$(BENCH_JOBS)' --repeat='$(BENCH_REPEAT)' --rate='$(BENCH_RATE)' --profiles='$(BENCH_PROFILES)'

BENCH_JOBSETS ?= 1000## number of JobSets at rest in `make bench-rest`
BENCH_NODES ?= 5000## number of nodes whose heartbeats `make bench-rest` measures

.PHONY: bench-rest
bench-rest: cluster ## Measure JobSets at rest with and without faultTolerance, and heartbeats of nodes; fails if a heartbeat makes a pass
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/bench \
	  --rest='$(BENCH_JOBSETS)' --nodes='$(BENCH_NODES)'

# What it costs to bring up a JobSet, see docs/performance.md. Included from Makefile.

##@ Performance

BENCH_JOBS ?= 100 500 1000 2000## numbers of Jobs that `make bench` measures
BENCH_REPEAT ?= 3## how often `make bench` measures each; the median counts
BENCH_RATE ?= 100## status updates of Jobs per second while `make bench` measures
BENCH_PROFILES ?=## directory where `make bench` writes CPU and allocation profiles

.PHONY: bench
bench: cluster ## Measure CPU and allocations of the controller per Job; fails if they are not linear
	go test -run='^$$' -bench=DecideJobs -benchtime=200ms ./pkg/policy
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) CGO_ENABLED=0 go run -buildvcs=false -trimpath ./test/bench \
	  --jobs='$(BENCH_JOBS)' --repeat='$(BENCH_REPEAT)' --rate='$(BENCH_RATE)' --profiles='$(BENCH_PROFILES)'

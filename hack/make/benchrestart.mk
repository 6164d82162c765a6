# What a restart in place gains and costs, see docs/performance.md. Included from Makefile.

N ?= 100 500 1000## numbers of workers that `make bench-restart` measures
BENCH_RESTARTS ?= 5## restarts of each kind in `make bench-restart`; the median counts
BENCH_DEFAULT_RESTARTS ?= 5## the same for Recreate with default limits, which is slow; 0 leaves it out
BENCH_JOBS_PER_GROUP ?= 10## Jobs that the workers are spread over in `make bench-restart`

.PHONY: bench-restart
bench-restart: build cluster ## Measure a group restart, in place and by Recreate; writes bin/bench-restart.md, fails if a budget is broken
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) CGO_ENABLED=0 go run -buildvcs=false -trimpath ./test/benchrestart \
	  --workers='$(N)' --restarts='$(BENCH_RESTARTS)' --default-restarts='$(BENCH_DEFAULT_RESTARTS)' --jobs='$(BENCH_JOBS_PER_GROUP)'

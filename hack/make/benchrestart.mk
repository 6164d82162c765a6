# The gain and cost of an in-place restart, see docs/performance.md. Included from Makefile.

N ?= 100 500 1000## numbers of workers to measure in `make bench-restart`
BENCH_RESTARTS ?= 5## number of restarts of each kind in `make bench-restart`; the median counts
BENCH_DEFAULT_RESTARTS ?= 5## the same for Recreate with default limits, which is slow; 0 skips it
MODE ?= container## what `make bench-restart` measures: container, or process: process mode beside container mode and a tuned Recreate, above 1,000 workers alone
BENCH_JOBS_PER_GROUP ?= 10## number of Jobs that the workers are spread over in `make bench-restart`

.PHONY: bench-restart
bench-restart: build cluster ## Measure a group restart, in place and by Recreate (MODE); writes bin/bench-restart.md, fails if a budget is exceeded
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) CGO_ENABLED=0 go run -buildvcs=false -trimpath ./test/benchrestart \
	  --workers='$(N)' --restarts='$(BENCH_RESTARTS)' --default-restarts='$(BENCH_DEFAULT_RESTARTS)' --jobs='$(BENCH_JOBS_PER_GROUP)' --mode='$(MODE)'

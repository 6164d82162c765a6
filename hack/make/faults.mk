# Faults on a real API server, see test/faults. Included from Makefile.

##@ Faults

FAULT_RESTARTS ?= 20## number of group restarts in `make test-faults`
FAULT_SEED ?=## seed of a run to repeat; every run prints its own
FAULT_MODE ?=## only this mode, container or process
FAULT_KIND ?=## only faults of this name, e.g. 'agent cut off'
FAULT_FAILURE ?=## only failures of this name, e.g. 'worker exits'
FAULT_LEASES_FROM ?= 256## number of workers from which agents in process mode report in Leases; the groups here have 50
MINUTES ?= 10## duration of `make soak`

FAULTS_TEST = KUBEBUILDER_ASSETS=$(CLUSTER_DIR) FAULT_SEED='$(FAULT_SEED)' FAULT_MODE='$(FAULT_MODE)' FAULT_KIND='$(FAULT_KIND)' FAULT_FAILURE='$(FAULT_FAILURE)' FAULT_LEASES_FROM='$(FAULT_LEASES_FROM)' \
  go test $(RACE_FLAG) ./test/integration/faults -count=1 -v -timeout=0 -ginkgo.v -ginkgo.no-color -ginkgo.timeout=

.PHONY: test-faults
test-faults: cluster ## Restart groups in both modes FAULT_RESTARTS times in all while manager, API server, network and agents fail (20 take 3 minutes)
	FAULT_RESTARTS='$(FAULT_RESTARTS)' $(FAULTS_TEST)24h

.PHONY: soak
soak: cluster ## Restart groups of every strategy and mode for MINUTES while requests, agents and containers fail; fails if memory or open files grow
	FAULT_MINUTES='$(MINUTES)' $(FAULTS_TEST)$$(( $(MINUTES) + 30 ))m

# Faults on a real API server, see test/faults. Included from Makefile.

##@ Faults

FAULT_RESTARTS ?= 20## how many group restarts `make test-faults` makes
FAULT_SEED ?=## repeat the faults of this seed, which every run prints
FAULT_KIND ?=## only faults of this name, e.g. 'agent cut off'
FAULT_FAILURE ?=## only failures of this name, e.g. 'worker exits'
MINUTES ?= 10## how long `make soak` goes on

FAULTS_TEST = KUBEBUILDER_ASSETS=$(CLUSTER_DIR) FAULT_SEED='$(FAULT_SEED)' FAULT_KIND='$(FAULT_KIND)' FAULT_FAILURE='$(FAULT_FAILURE)' \
  go test $(RACE_FLAG) ./test/integration/faults -count=1 -v -timeout=0 -ginkgo.v -ginkgo.no-color -ginkgo.timeout=

.PHONY: test-faults
test-faults: cluster ## Restart a group FAULT_RESTARTS times while manager, API server, network and agents fail (20 take 3 minutes)
	FAULT_RESTARTS='$(FAULT_RESTARTS)' $(FAULTS_TEST)24h

.PHONY: soak
soak: cluster ## The same for MINUTES, and a summary
	FAULT_MINUTES='$(MINUTES)' $(FAULTS_TEST)$$(( $(MINUTES) + 30 ))m

# The Kubeflow Trainer on this repository. Included from Makefile.

##@ Kubeflow Trainer

.PHONY: test-trainer
test-trainer: cluster tool-ginkgo ## Run TrainJobs of the real Kubeflow Trainer on the embedded control plane, and show their status over time
	hack/dropin/build.sh
	TRAINER_MANAGER=$(CURDIR)/bin/trainer/trainer-controller-manager TRAINER_SOURCE=$$(hack/dropin/build.sh --print-source) $(MAKE) test-integration \
	  INTEGRATION_TARGET=./test/integration/embedded GINKGO_ARGS='-v --focus=P125'

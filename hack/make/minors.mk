# Other minor versions of Kubernetes. Included from Makefile.

##@ Versions of Kubernetes

MINORS ?= v1.34.4 v1.35.4 v1.36.3 v1.37.2## versions whose control planes `make test-minors` builds and tests on

.PHONY: minors
minors: ## Build the control planes of MINORS
	@for version in $(MINORS); do hack/build-minor.sh "$$version" >/dev/null; done

.PHONY: test-minors
test-minors: ## Run the specs that carry the contract on control planes of several minor versions, with simulated nodes
	@hack/test-minors.sh $(MINORS)

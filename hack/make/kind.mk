# The kind cluster of the end-to-end tests, see hack/kind. Included from Makefile.

##@ Cluster with real kubelets (kind, needs Docker)

KIND_CLUSTER_NAME ?= jobset## name of the kind cluster
KIND_CONFIG ?= $(CURDIR)/test/e2e/kind.yaml## configuration of the kind cluster: nodes, networks
KIND_NODE_IMAGE ?=## image of its nodes (default: kindest/node if it can be pulled, else one built here)
KIND_FENCE ?= 1## 0: the kind cluster may send packets out of the machine
KIND_RETAIN ?=## 1: `make kind-up` keeps nodes that did not come up
IMAGES ?= $(foreach image,manager agent worker,$(IMAGE_REPO)/$(image):$(IMAGE_TAG))## images that `make kind-load` copies
FIX ?=## `make kind-doctor`: 1 mends Docker where privileged containers fail, undo takes that back

# The scripts read the same variables and can be run without make.
KIND_ENV = KIND_CLUSTER_NAME='$(KIND_CLUSTER_NAME)' KIND_CONFIG='$(KIND_CONFIG)' KIND_NODE_IMAGE='$(KIND_NODE_IMAGE)' \
  KIND_FENCE='$(KIND_FENCE)' KIND_RETAIN='$(KIND_RETAIN)' FIX='$(FIX)'

.PHONY: kind-up
kind-up: ## Make the kind cluster; its kubeconfig is bin/kind/kubeconfig
	@$(KIND_ENV) hack/kind/up.sh

.PHONY: kind-down
kind-down: ## Remove the kind cluster and all that was made for it
	@$(KIND_ENV) hack/kind/down.sh

.PHONY: kind-load
kind-load: ## Copy images of the local Docker into the kind cluster: IMAGES="a b"
	@$(KIND_ENV) hack/kind/load.sh $(IMAGES)

.PHONY: kind-check
kind-check: ## Check network, DNS and in-place restart of the kind cluster
	@$(KIND_ENV) hack/kind/check.sh

.PHONY: kind-doctor
kind-doctor: ## Check what a kind cluster needs of this machine; FIX=1 mends what can be
	@$(KIND_ENV) hack/kind/doctor.sh

.PHONY: kind-node-image
kind-node-image: ## Build the node image from Go modules and Debian packages (Linux, root)
	@$(KIND_ENV) KIND_NODE_IMAGE= hack/kind/node-image.sh --build

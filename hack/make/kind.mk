# The kind cluster of the end-to-end tests, see hack/offline-kind/README.md. Included from Makefile.

##@ Cluster with real kubelets (kind, needs Docker)

KIND_CLUSTER_NAME ?= jobset## name of the kind cluster
KIND_CONFIG ?= $(CURDIR)/test/e2e/kind.yaml## configuration of the kind cluster: nodes, networks
KIND_NODE_IMAGE ?=## image of its nodes (default: kindest/node if it can be pulled, else one built here)
KIND_FENCE ?= 1## 0: lets the kind cluster reach the network outside of this machine
KIND_RETAIN ?=## 1: `make kind-up` keeps nodes that failed to start
IMAGES ?= $(foreach image,manager agent worker,$(IMAGE_REPO)/$(image):$(IMAGE_TAG))## images that `make kind-load` copies
FIX ?=## `make kind-doctor`: 1 patches Docker where privileged containers fail, undo reverts that

# The scripts read the same variables and can be run without make.
KIND_ENV = KIND_CLUSTER_NAME='$(KIND_CLUSTER_NAME)' KIND_CONFIG='$(KIND_CONFIG)' KIND_NODE_IMAGE='$(KIND_NODE_IMAGE)' \
  KIND_FENCE='$(KIND_FENCE)' KIND_RETAIN='$(KIND_RETAIN)' FIX='$(FIX)'

.PHONY: kind-up
kind-up: ## Create the kind cluster; its kubeconfig is bin/kind/kubeconfig
	@$(KIND_ENV) hack/offline-kind/up.sh

.PHONY: kind-down
kind-down: ## Remove the kind cluster and everything created for it
	@$(KIND_ENV) hack/offline-kind/down.sh

.PHONY: kind-load
kind-load: ## Copy images of the local Docker into the kind cluster: IMAGES="a b"
	@$(KIND_ENV) hack/offline-kind/load.sh $(IMAGES)

.PHONY: kind-check
kind-check: ## Check network, DNS and in-place restart of the kind cluster
	@$(KIND_ENV) hack/offline-kind/check.sh

.PHONY: kind-doctor
kind-doctor: ## Check whether this machine can run a kind cluster; FIX=1 fixes what it can
	@$(KIND_ENV) hack/offline-kind/doctor.sh

.PHONY: kind-prepare
kind-prepare: ## Build the programs and the file system that the node image is made of, if there is no image yet
	@$(KIND_ENV) hack/offline-kind/node-image.sh --prepare

.PHONY: kind-node-image
kind-node-image: ## Build the node image from Go modules and Debian packages (Linux, root)
	@$(KIND_ENV) KIND_NODE_IMAGE= hack/offline-kind/node-image.sh --build

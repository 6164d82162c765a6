# Installing JobSet, and the end-to-end tests. Included from Makefile.

##@ Install and end-to-end tests

DEPLOY_CONFIG ?= config/default## kustomization that `make deploy` applies to the cluster of KUBECONFIG
E2E_IMAGES ?= auto## release: images from the Dockerfiles, local: binaries on scratch, auto: as the registries allow
E2E_FOCUS ?=## only end-to-end tests that match this expression
E2E_LABELS ?=## only end-to-end tests with these labels, e.g. !node-loss, or !slow: none that take a minute and more
E2E_REPEAT ?= 1## number of runs; with more than one only tests with two workers run, unless chosen otherwise
E2E_PROCS ?= 2## number of tests that run in parallel
E2E_TIMEOUT ?= 40m## timeout of an end-to-end run
E2E_SIZES ?= 2 20## numbers of workers for which strategies and modes are compared
E2E_TORCH ?= $(if $(findstring pytorch,$(E2E_LABELS))$(findstring data-loaders,$(E2E_LABELS))$(findstring costs,$(E2E_LABELS)),1)## 1: also the stories with PyTorch, labels pytorch, data-loaders and costs (default: if E2E_LABELS names one)
E2E_MPI ?= $(if $(findstring mpi,$(E2E_LABELS)),1)## 1: also the story with OpenMPI, label mpi (default: if E2E_LABELS names it)
E2E_LOST_NODE ?=## also lose a node under each strategy and tell each second: soon, with short periods, or usual, with those of Kubernetes
E2E_PYTHON_IMAGE ?=## image with /bin/sh and python3 for the end-to-end tests (default: built from Debian packages)

# The kubectl that was built here, else the one on PATH.
KUBECTL = $(or $(wildcard $(CLUSTER_DIR)/kubectl),kubectl)

.PHONY: deploy
deploy: ## Install DEPLOY_CONFIG on the cluster of KUBECONFIG and wait until it is ready
	$(KUBECTL) apply --server-side --force-conflicts -k $(DEPLOY_CONFIG)
	$(KUBECTL) rollout status --namespace jobset-system deployment/jobset-controller-manager --timeout=240s
	@# After the Pod is ready it takes a moment until the API server reaches its webhooks.
	@for i in {1..60}; do \
	  message=$$($(KUBECTL) create --dry-run=server --namespace jobset-system --filename examples/simple/paralleljobs.yaml 2>&1) && exit; \
	  sleep 1; \
	done; echo "JobSet is installed, but a JobSet cannot be created: $$message" >&2; exit 1

.PHONY: undeploy
undeploy: ## Remove DEPLOY_CONFIG and all JobSets from the cluster of KUBECONFIG
	$(KUBECTL) delete --ignore-not-found --timeout=120s -k $(DEPLOY_CONFIG)

.PHONY: test-e2e
test-e2e: ## Create a kind cluster, install JobSet, run the end-to-end tests, remove everything; KEEP=1 keeps the cluster
	@E2E_IMAGES='$(E2E_IMAGES)' E2E_FOCUS='$(E2E_FOCUS)' E2E_LABELS='$(E2E_LABELS)' E2E_REPEAT='$(E2E_REPEAT)' E2E_PROCS='$(E2E_PROCS)' \
	  E2E_TIMEOUT='$(E2E_TIMEOUT)' E2E_SIZES='$(E2E_SIZES)' E2E_LOST_NODE='$(E2E_LOST_NODE)' E2E_PYTHON_IMAGE='$(E2E_PYTHON_IMAGE)' E2E_TORCH='$(filter-out 0,$(E2E_TORCH))' E2E_MPI='$(filter-out 0,$(E2E_MPI))' IMAGE_REPO='$(IMAGE_REPO)' IMAGE_TAG='$(IMAGE_TAG)' GINKGO_ARGS='$(GINKGO_ARGS)' KEEP='$(filter-out 0,$(KEEP))' KIND_CLUSTER_NAME='$(KIND_CLUSTER_NAME)' \
	  hack/e2e/run.sh

.PHONY: test-e2e-only
test-e2e-only: tool-ginkgo ## Run the end-to-end tests on the cluster of KUBECONFIG, where JobSet is installed
	@E2E_FOCUS='$(E2E_FOCUS)' E2E_LABELS='$(E2E_LABELS)' E2E_REPEAT='$(E2E_REPEAT)' E2E_PROCS='$(E2E_PROCS)' \
	  E2E_TIMEOUT='$(E2E_TIMEOUT)' E2E_SIZES='$(E2E_SIZES)' E2E_LOST_NODE='$(E2E_LOST_NODE)' E2E_PYTHON_IMAGE='$(E2E_PYTHON_IMAGE)' GINKGO_ARGS='$(GINKGO_ARGS)' KUBECTL='$(KUBECTL)' hack/e2e/stories.sh

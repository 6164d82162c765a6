# Installing JobSet, and the end-to-end tests. Included from Makefile.

##@ Install and end-to-end tests

DEPLOY_CONFIG ?= config/default## kustomization that `make deploy` applies to the cluster of KUBECONFIG
E2E_IMAGES ?= auto## release: images from the Dockerfiles, local: binaries on scratch, auto: as the registries allow
E2E_FOCUS ?=## only end-to-end stories that match this expression
E2E_LABELS ?=## only end-to-end stories with these labels, e.g. !node-loss
E2E_REPEAT ?= 1## how often the stories are told; more than once only the two-worker story, unless chosen otherwise
E2E_PROCS ?= 2## stories told at the same time
E2E_TIMEOUT ?= 40m## after this long an end-to-end run is a failure

# The kubectl that was built here, else the one on PATH.
KUBECTL = $(or $(wildcard $(CLUSTER_DIR)/kubectl),kubectl)

.PHONY: deploy
deploy: ## Install DEPLOY_CONFIG on the cluster of KUBECONFIG and wait until it is ready
	$(KUBECTL) apply --server-side --force-conflicts -k $(DEPLOY_CONFIG)
	$(KUBECTL) rollout status --namespace jobset-system deployment/jobset-controller-manager --timeout=240s
	@# It is a moment more until the API server reaches the webhooks of a Pod that is ready.
	@for i in {1..60}; do \
	  message=$$($(KUBECTL) create --dry-run=server --namespace jobset-system --filename examples/simple/paralleljobs.yaml 2>&1) && exit; \
	  sleep 1; \
	done; echo "JobSet is installed, but a JobSet cannot be created: $$message" >&2; exit 1

.PHONY: undeploy
undeploy: ## Remove DEPLOY_CONFIG, and with it all JobSets, from the cluster of KUBECONFIG
	$(KUBECTL) delete --ignore-not-found --timeout=120s -k $(DEPLOY_CONFIG)

.PHONY: test-e2e
test-e2e: ## Make a kind cluster, install JobSet, tell the end-to-end stories, remove all; KEEP=1 keeps the cluster
	@E2E_IMAGES='$(E2E_IMAGES)' E2E_FOCUS='$(E2E_FOCUS)' E2E_LABELS='$(E2E_LABELS)' E2E_REPEAT='$(E2E_REPEAT)' E2E_PROCS='$(E2E_PROCS)' \
	  E2E_TIMEOUT='$(E2E_TIMEOUT)' IMAGE_REPO='$(IMAGE_REPO)' IMAGE_TAG='$(IMAGE_TAG)' GINKGO_ARGS='$(GINKGO_ARGS)' KEEP='$(filter-out 0,$(KEEP))' KIND_CLUSTER_NAME='$(KIND_CLUSTER_NAME)' \
	  hack/e2e/run.sh

.PHONY: test-e2e-only
test-e2e-only: tool-ginkgo ## Tell the end-to-end stories on the cluster of KUBECONFIG, where JobSet is installed
	@E2E_FOCUS='$(E2E_FOCUS)' E2E_LABELS='$(E2E_LABELS)' E2E_REPEAT='$(E2E_REPEAT)' E2E_PROCS='$(E2E_PROCS)' \
	  E2E_TIMEOUT='$(E2E_TIMEOUT)' GINKGO_ARGS='$(GINKGO_ARGS)' KUBECTL='$(KUBECTL)' hack/e2e/stories.sh

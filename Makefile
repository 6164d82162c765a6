# `make help` lists what there is. Everything works on a machine with Go, make
# and git: tools and the embedded control plane are built from the Go module
# proxy into bin/ when they are first needed.

SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help

##@ Variables you may set, as in: make test UNIT_TARGET=./pkg/policy/...

GIT_TAG ?= $(shell git describe --tags --dirty --always 2>/dev/null || echo v0.0.0-main)## version written into the binaries
GIT_COMMIT ?= $(shell git rev-parse --verify --quiet HEAD 2>/dev/null || echo unknown)## commit written into the manager
ARTIFACTS ?= $(CURDIR)/bin## where test reports go
UNIT_TARGET ?=## packages of `make test` (default: all but test/integration and test/e2e)
INTEGRATION_TARGET ?= ./test/integration/...## packages of `make test-integration`
INTEGRATION_LABELS ?=## only integration tests with these labels, e.g. !slow: none that take a minute and more
INTEGRATION_PROCS ?= 4## number of integration tests that run side by side, on a control plane each: they wait more than they compute
INTEGRATION_REPEAT ?= 1## number of runs of each integration suite
INTEGRATION_TIMEOUT ?= 40m## timeout of an integration run
GINKGO_ARGS ?=## additional flags for ginkgo, e.g. --focus='in place'
GO_TEST_ARGS ?=## additional flags for `go test` in `make test`, e.g. -run=TestDecide -v
RACE ?= auto## 1: tests run with the race detector, 0: without, auto: the unit tests of agent and supervisor do if there is a C compiler
DEMO_PICTURE ?=## a file to which `make demo` writes a picture of the restart, such as docs/demo.svg
DEMO_LOG_LEVEL ?=## 4: `make demo` keeps the manager's log of that level in bin/demo-manager.log
KEEP ?=## 1: `make demo` keeps its cluster running until you interrupt it
KUBEBUILDER_ASSETS ?=## directory with etcd, kube-apiserver, ..., instead of building them
IMAGE_REPO ?= jobset## prefix of image names: IMAGE_REPO/manager, /agent, /worker
IMAGE_TAG ?= dev## tag of the images, the one that config/ names
IMAGE_ARCH ?= $(shell go env GOARCH)## architecture of the images

export KUBEBUILDER_ASSETS
# The same as in hack/goenv.sh, so that nothing is compiled twice; GOFLAGS= for a debugger. The version comes from
# LDFLAGS; reading it from git fails if another user owns the checkout.
export GOFLAGS ?= -mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags=-w
export CGO_ENABLED ?= 0
export GOWORK ?= off

# The binary directory of the control plane, wherever it comes from.
CLUSTER_DIR = $(or $(KUBEBUILDER_ASSETS),$(shell hack/build-cluster.sh --print-dir))
MODULE := sigs.k8s.io/jobset
VERSION_PACKAGE := $(MODULE)/pkg/version
LDFLAGS := -s -w -X $(VERSION_PACKAGE).GitVersion=$(GIT_TAG) -X $(VERSION_PACKAGE).GitCommit=$(GIT_COMMIT)
RACE_FLAG = $(if $(filter 1,$(RACE)),-race)
# The race detector is C, and needs all that a package imports compiled once more: minutes for client libraries.
WITH_RACE = $(if $(filter 1,$(RACE)),CGO_ENABLED=1)
# auto: the programs that are goroutines first of all, and import little. make nightly runs all with it.
RACE_PACKAGES = $(if $(filter auto,$(RACE)),$(if $(shell command -v "$$(go env CC)" 2>/dev/null),./agent/... ./supervisor/...))

##@ General

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*?## "} \
	  /^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5); next} \
	  /^[A-Z_]+ \?=.*?## ?/ {split($$0, a, "## ?"); split(a[1], v, " \\?= ?"); printf "  \033[36m%-22s\033[0m %s%s\n", v[1], a[2], (v[2] == "" || v[2] ~ /[$$]/ ? "" : " [" v[2] "]"); next} \
	  /^[a-z0-9-]+:.*?## / {printf "  \033[36m%-22s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Build

.PHONY: build
build: ## Build bin/manager, bin/agent, bin/supervisor and bin/worker
	@. hack/timed.sh; \
	building "bin/manager, bin/agent and bin/worker" go build -ldflags "$(LDFLAGS)" -o bin/ ./cmd/manager ./cmd/agent ./test/worker; \
	building bin/supervisor env GOOS=linux go build -ldflags "-s -w" -o bin/supervisor ./cmd/supervisor

.PHONY: image-build
image-build: ## Build images of manager, agent and worker for clusters on this machine, with Docker
	@command -v docker >/dev/null || { echo "make image-build needs docker" >&2; exit 1; }
	mkdir -p bin/images
	@. hack/timed.sh; export GOOS=linux GOARCH=$(IMAGE_ARCH); \
	building "programs of the images" go build -ldflags "$(LDFLAGS)" -o bin/images/ ./cmd/manager ./cmd/agent ./cmd/supervisor ./test/worker
	@# The images hold a static binary each, the agent's two, so neither a builder nor a base image is needed.
	@hack/offline-kind/build.sh mkimage
	@for image in manager agent worker; do \
	  beside=; [ $$image != agent ] || beside="-file bin/images/supervisor=/supervisor"; \
	  bin/kind/bin/mkimage -out bin/images/$$image.tar -tag $(IMAGE_REPO)/$$image:$(IMAGE_TAG) -arch $(IMAGE_ARCH) \
	    -file bin/images/$$image=/$$image $$beside -entrypoint /$$image -user 65532:65532; \
	  docker load --quiet --input bin/images/$$image.tar >/dev/null; \
	  rm bin/images/$$image.tar; \
	  echo "built $(IMAGE_REPO)/$$image:$(IMAGE_TAG)"; \
	done

.PHONY: clean
clean: ## Remove bin/: binaries, tools and the embedded control plane
	rm -rf bin

##@ Change the code

.PHONY: generate
generate: ## Regenerate deepcopy, CRD, RBAC and webhook manifests, then client-go and the Python package
	hack/update-generated.sh
	hack/update-client-go.sh
	hack/update-python.sh

.PHONY: fmt
fmt: tool-golangci-lint ## Format Go files and group their imports
	bin/tools/golangci-lint fmt ./...

.PHONY: vet
vet: ## Run go vet
	go vet ./...

.PHONY: lint
lint: ## Run the linter
	hack/verify-lint.sh

.PHONY: lint-fix
lint-fix: tool-golangci-lint ## Let the linter fix what it can
	bin/tools/golangci-lint run --timeout 20m --fix ./...

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum of every module
	for mod in $$(find . -path ./bin -prune -o -name go.mod -print); do (cd $$(dirname $$mod) && GOWORK=off GOFLAGS=-mod=mod go mod tidy); done

##@ Check

.PHONY: verify
verify: ## Run every hack/verify-*.sh; each says how to fix what it finds
	@hack/run-parts.sh hack/verify-*.sh

.PHONY: test
test: ## Run the unit tests (no cluster)
	@packages="$(UNIT_TARGET)" raced="$(if $(UNIT_TARGET),,$(RACE_PACKAGES))"; \
	echo "race detector: $(if $(RACE_FLAG),on,$${raced:-off})"; \
	[ -n "$$packages" ] || packages=$$(go list ./... | grep -v -e "/test/integration" -e "/test/e2e" $${raced:+-e "^$(MODULE)/agent" -e "^$(MODULE)/supervisor"}); \
	status=0; \
	$(WITH_RACE) go test $(RACE_FLAG) $(GO_TEST_ARGS) $$packages || status=1; \
	[ -z "$$raced" ] || CGO_ENABLED=1 go test -race -parallel=6 $(GO_TEST_ARGS) $$raced || status=1; \
	exit $$status

.PHONY: cluster
cluster: ## Build the embedded control plane that demo and integration tests run
	@hack/build-cluster.sh

.PHONY: test-integration
test-integration: cluster tool-ginkgo ## Run the integration tests against a real API server
	@mkdir -p $(ARTIFACTS)
	@# The faults would only be compiled and skipped: make test-faults and make soak run them.
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) $(WITH_RACE) bin/tools/ginkgo run --procs=$(INTEGRATION_PROCS) --no-color --timeout=$(INTEGRATION_TIMEOUT) --poll-progress-after=60s \
	  --skip-package=test/integration/faults --keep-going --repeat=$$(( $(INTEGRATION_REPEAT) - 1 )) --junit-report=junit-integration.xml --output-dir=$(ARTIFACTS) \
	  --label-filter='$(INTEGRATION_LABELS)' $(RACE_FLAG) $(GINKGO_ARGS) $(INTEGRATION_TARGET)

.PHONY: demo
demo: ## Show an in-place restart on an embedded cluster
	@. hack/timed.sh; lasted demo; $(MAKE) --no-print-directory demo-run; remember demo; echo "demo took $$SECONDS s"

.PHONY: demo-run
demo-run: cluster build
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/demo \
	  --manager=bin/manager --agent=bin/agent --supervisor=bin/supervisor --worker=bin/worker $(if $(filter-out 0,$(KEEP)),--keep) $(if $(DEMO_LOG_LEVEL),--log-level=$(DEMO_LOG_LEVEL)) $(if $(DEMO_PICTURE),--picture=$(DEMO_PICTURE))

.PHONY: check
check: ## Run verify, test, test-sequence, test-integration without the slow ones, test-faults and demo
	@hack/check.sh

# Each tool is built when it is first needed and when its pin changes.
tool-%:
	@hack/build-tool.sh $*

-include hack/make/*.mk

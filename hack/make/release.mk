# Releases, see docs/releasing.md. Included from Makefile.

##@ Releases

VERSION ?=## `make release`: the version, e.g. v0.13.0
RELEASE_DIR ?= $(CURDIR)/bin/release/$(VERSION)## `make release`: directory for the files
RELEASE_URL ?=## `make release`: where the files can be downloaded afterwards, for the krew manifest
PLUGIN_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64## `make release`: what the kubectl plugin is built for

.PHONY: release
release: ## Build binaries, images, manifests, chart, plugin, bills of materials and checksums of VERSION; pushes nothing
	@IMAGE_REPO='$(IMAGE_REPO)' RELEASE_URL='$(RELEASE_URL)' PLUGIN_PLATFORMS='$(PLUGIN_PLATFORMS)' hack/release/build.sh '$(VERSION)' '$(RELEASE_DIR)'

.PHONY: verify-release
verify-release: ## Build a release twice, in two places, and compare the checksums
	@IMAGE_REPO='$(IMAGE_REPO)' PLUGIN_PLATFORMS='$(PLUGIN_PLATFORMS)' hack/release/verify.sh $(VERSION)

.PHONY: verify-dropin
verify-dropin: ## Build the Kubeflow Trainer and its tests against this repository
	@hack/dropin/verify.sh

.PHONY: licences
licences: build kubectl-plugin ## Check the licences of all modules in the programs of a release
	@go run ./hack/release licences bin/manager bin/agent bin/supervisor bin/kubectl-jobset

# The Helm chart. Included from Makefile.

##@ Helm chart

CHART_VERSION ?=## `make helm-package`: version of the chart, e.g. 0.13.0 (default: that of Chart.yaml)
CHART_DIR ?= $(CURDIR)/bin/charts## `make helm-package`: directory for the package

.PHONY: update-chart
update-chart: tool-kustomize ## Copy CRD, roles, webhooks and policy from config/ into the chart, and its values into its README
	@hack/build-tool.sh helm-docs
	@bin/tools/helm-docs --chart-search-root charts/jobset --sort-values-order file --log-level warning
	@cd hack/publish/chart && go run . update

.PHONY: helm
helm: ## Build bin/tools/helm
	@hack/build-tool.sh helm

.PHONY: helm-lint
helm-lint: helm ## Lint the chart
	bin/tools/helm lint --strict charts/jobset

.PHONY: helm-template
helm-template: helm ## Print what the chart installs; HELM_ARGS="--set ..." changes values
	bin/tools/helm template jobset charts/jobset --namespace jobset-system --include-crds $(HELM_ARGS)

.PHONY: helm-package
helm-package: helm ## Package the chart with the image IMAGE_REPO/manager:IMAGE_TAG
	@hack/publish/chart/package.sh '$(CHART_VERSION)' '$(IMAGE_REPO)/manager' '$(IMAGE_TAG)' '$(CHART_DIR)'

.PHONY: test-e2e-chart
test-e2e-chart: ## Install, upgrade and uninstall the chart on the cluster of KUBECONFIG, which has the images and no JobSet
	@IMAGE_REPO='$(IMAGE_REPO)' IMAGE_TAG='$(IMAGE_TAG)' hack/e2e/chart.sh

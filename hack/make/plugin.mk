# The kubectl plugin. Included from Makefile.

##@ kubectl plugin

PLUGIN_DIR ?= $(HOME)/.local/bin## directory to install the plugin in; it must be on PATH

.PHONY: kubectl-plugin
kubectl-plugin: ## Build bin/kubectl-jobset, which is `kubectl jobset` once it is on PATH
	go build -ldflags "$(LDFLAGS)" -o bin/kubectl-jobset ./cmd/kubectl-jobset

.PHONY: kubectl-plugin-install
kubectl-plugin-install: kubectl-plugin ## Install the plugin and its shell completion
	install -d '$(PLUGIN_DIR)'
	install -m 0755 bin/kubectl-jobset cmd/kubectl-jobset/kubectl_complete-jobset '$(PLUGIN_DIR)'

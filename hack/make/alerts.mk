# The alerts of config/components/prometheus and the dashboard of config/components/grafana. Included from Makefile.

##@ Alerts and dashboard

.PHONY: test-alerts
test-alerts: ## Test when each alert fires, with promtool (the first time builds it, which takes minutes)
	@hack/test-alerts.sh

.PHONY: test-dashboard
test-dashboard: build cluster tool-promtool ## Record the metrics of a manager at work, and run every query of the Grafana dashboard on them
	KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go run ./test/dashboard

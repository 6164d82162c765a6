# The alerts, see hack/alerts/doc.go. Included from Makefile.

##@ Alerts

.PHONY: test-alerts
test-alerts: ## Show when each alert of config/components/prometheus fires, by the engine of Prometheus
	@hack/verify-alerts.sh

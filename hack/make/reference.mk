# The site's reference pages that follow from the code, see hack/reference. Included from Makefile.

##@ Reference

.PHONY: update-reference
update-reference: ## Write the site's reference: API, configuration, labels, conditions, events, metrics, agent
	@go run ./hack/reference

# The tables of fields in the site's reference. Included from Makefile.

##@ Reference

.PHONY: update-reference
update-reference: ## Write the fields of the API and of the configuration into the site's reference
	@hack/update-reference.sh

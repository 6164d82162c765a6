# The tables in the site's reference. Included from Makefile.

##@ Reference

.PHONY: update-reference
update-reference: ## Write what the code knows into the tables of the site's reference
	@hack/update-reference.sh

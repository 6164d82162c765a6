# The enhancement proposals. Included from Makefile; hack/verify-kep.sh checks them.

##@ Enhancement proposals

.PHONY: update-kep
update-kep: ## Write the tables of contents of keps/*/README.md from their headings
	go run ./hack/kep --write

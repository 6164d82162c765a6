# The written contract and the enhancement proposals, see hack/docs. Included from Makefile.

##@ Contract and proposals

SPEC_STRICT ?=## 1: `make spec-coverage` fails if a line of the contract has neither a test nor a reason

.PHONY: spec-coverage
spec-coverage: ## List the lines of docs/behaviour.md that no test carries
	@go run ./hack/docs --coverage $(if $(filter 1,$(SPEC_STRICT)),--strict)

.PHONY: update-kep
update-kep: ## Write the tables of contents of keps/*/README.md from their headings
	@go run ./hack/docs --contents

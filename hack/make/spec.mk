# The written contract, docs/behaviour.md, and the tests that prove it. Included from Makefile.

##@ The written contract

SPEC_STRICT ?=## 1: `make spec-coverage` fails if a line of the contract has neither a test nor a reason

.PHONY: spec-coverage
spec-coverage: ## Say which lines of docs/behaviour.md no test carries in its name
	@go run ./hack/speccoverage $(if $(filter 1,$(SPEC_STRICT)),--strict)

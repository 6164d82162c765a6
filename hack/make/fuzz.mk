# Fuzzing. Included from Makefile.

##@ Fuzzing

FUZZ_TIME ?= 60s## duration of each fuzz target

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZ_TIME: admission, defaults, decisions, configuration
	@FUZZ_TIME='$(FUZZ_TIME)' hack/fuzz.sh

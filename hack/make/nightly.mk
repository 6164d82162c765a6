# What `make check` leaves out, see hack/nightly.sh. Included from Makefile.

##@ Nightly

NIGHTLY_REPEAT ?= 1## number of runs of the integration tests in `make nightly`
NIGHTLY_RESTARTS ?= 60## number of group restarts of `make test-faults` in it
NIGHTLY_MINUTES ?= 10## minutes of `make soak` in it
NIGHTLY_FUZZ ?= 30s## duration of each fuzz target in it
NIGHTLY_SEQUENCE ?=## part of the scenarios of `make test-sequence-full` in it; 1/1: all (default: another third each day)
NIGHTLY_WALKS ?= 100000## number of random schedules of `make test-sequence-full` in it
NIGHTLY_RACE ?= 2## number of runs of the unit tests with the race detector in it
NIGHTLY_MINORS ?= v1.34.4 v1.35.4 v1.37.2## versions of `make test-minors` in it; the pinned one is what all other parts run on
NIGHTLY_PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64## what `make verify-release` builds the plugin for in it
NIGHTLY_SCALE ?= 100## numbers of workers that it measures
NIGHTLY_RESUME ?=## 1: `make nightly` leaves out the parts that passed in its last run, if that was of the same commit
NIGHTLY_LIMIT ?= 180## minutes after which `make nightly` ends, with a record of what it has run

.PHONY: nightly
nightly: ## Run all that `make check` leaves out, and write its record to docs/nightly.md (two hours)
	@NIGHTLY_REPEAT='$(NIGHTLY_REPEAT)' NIGHTLY_RESTARTS='$(NIGHTLY_RESTARTS)' NIGHTLY_MINUTES='$(NIGHTLY_MINUTES)' NIGHTLY_FUZZ='$(NIGHTLY_FUZZ)' \
	  NIGHTLY_SEQUENCE='$(NIGHTLY_SEQUENCE)' NIGHTLY_WALKS='$(NIGHTLY_WALKS)' NIGHTLY_RACE='$(NIGHTLY_RACE)' NIGHTLY_MINORS='$(NIGHTLY_MINORS)' \
	  NIGHTLY_PLATFORMS='$(NIGHTLY_PLATFORMS)' NIGHTLY_SCALE='$(NIGHTLY_SCALE)' NIGHTLY_RESUME='$(NIGHTLY_RESUME)' \
	  NIGHTLY_LIMIT='$(NIGHTLY_LIMIT)' hack/nightly.sh

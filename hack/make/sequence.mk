# The checker of the in-place restart protocol, see test/sequence/doc.go. Included from Makefile.

##@ The protocol of in-place restart

SEQUENCE_CASE ?=## search only scenarios whose name matches this expression
SEQUENCE_SEED ?=## run and show only the random schedule of this seed
SEQUENCE_WALKS ?= 0## number of random schedules; 0: 5,000, or 100,000 in `make test-sequence-full`
SEQUENCE_PART ?=## only a part, such as 2/3, of the scenarios that `make test-sequence-full` has and `make test-sequence` has not
MUTANT ?=## insert only mutations whose name matches this expression

SEQUENCE_TEST = go test ./test/sequence -count=1 -v $(if $(SEQUENCE_SEED),-run '^TestRandomSchedules$$' -sequence.seed=$(SEQUENCE_SEED)) \
  $(if $(SEQUENCE_CASE),-run '^TestEverySchedule$$' -sequence.case='$(SEQUENCE_CASE)')

.PHONY: test-sequence
test-sequence: ## Search all schedules within bounds, and 5,000 random ones (some minutes)
	$(SEQUENCE_TEST) -timeout=30m -sequence.level=bounded -sequence.walks=$(SEQUENCE_WALKS)

.PHONY: test-sequence-full
test-sequence-full: ## Search within wider bounds, and 100,000 random schedules (about half an hour)
	$(SEQUENCE_TEST) -timeout=4h -sequence.level=full -sequence.walks=$(SEQUENCE_WALKS) -sequence.part=$(SEQUENCE_PART)

.PHONY: mutants
mutants: ## Mutate the decisions, one at a time, and check that the search finds each mutation
	go run ./test/sequence/mutants $(if $(MUTANT),-run='$(MUTANT)')

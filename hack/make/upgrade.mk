# Upgrades and downgrades of the manager. Included from Makefile.

##@ Upgrades

OLD_COMMIT ?=## commit whose manager is upgraded from and downgraded to; the last one that added no agents

.PHONY: test-upgrade
test-upgrade: cluster tool-ginkgo ## Upgrade and downgrade the manager under groups that run, on the embedded control plane
	OLD_MANAGER=$$(hack/build-manager-of.sh $(OLD_COMMIT)) PODS_ONLY_MANAGER=$$(hack/build-manager-of.sh --before pkg/facts/lease.go) $(MAKE) test-integration \
	  INTEGRATION_TARGET=./test/integration/embedded GINKGO_ARGS="--focus='P59|P154'"

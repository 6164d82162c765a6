# The documentation site, see site/README.md. Included from Makefile.

##@ Documentation site

SITE_PORT ?= 1313## port of `make site-serve`

SITE_GO = cd hack/publish/site && go

.PHONY: site
site: cluster ## Build the site into bin/site, check its links, and apply the manifests it shows to a real API server
	@hack/run-parts.sh 'hack/publish/site/build.sh' \
	  '$(SITE_GO) run ./check ../../../bin/site' \
	  '$(SITE_GO) run ./pictures -check ../../../docs/pictures' \
	  'KUBEBUILDER_ASSETS=$(CLUSTER_DIR) go test ./test/integration/examples -count=1 -ginkgo.focus="page of the site" -ginkgo.no-color'

.PHONY: site-serve
site-serve: ## Serve the site on SITE_PORT and rebuild it when a file changes
	@SITE_PORT='$(SITE_PORT)' hack/publish/site/build.sh serve

.PHONY: site-look
site-look: ## Build the site and check every page in Chromium, on phone and desktop, light and dark; writes bin/site-look
	@hack/run-parts.sh 'hack/publish/site/build.sh' '$(SITE_GO) test ./look' '$(SITE_GO) run ./look -out=../../../bin/site-look ../../../bin/site'

.PHONY: update-pictures
update-pictures: ## Draw docs/pictures/*.svg from the *.txt beside them
	@$(SITE_GO) run ./pictures ../../../docs/pictures

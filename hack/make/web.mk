# The page of `kubectl jobset dashboard`, see pkg/dashboard and hack/publish/web. Included from Makefile.

##@ Dashboard of the plugin

WEB_TEST = cd hack/publish && go test -count=1 -v ./web

.PHONY: test-web
test-web: ## Test the page of `kubectl jobset dashboard` in Chromium, with 2, 20 and 5,000 workers: speed, keyboard, names, contrast
	@$(WEB_TEST)

.PHONY: update-web-pictures
update-web-pictures: ## Write docs/pictures/dashboard-*.png from that test
	@$(WEB_TEST) -run=TestThePageShowsAGroupRestart -args -pictures=$(CURDIR)/docs/pictures

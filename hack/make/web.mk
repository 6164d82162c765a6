# The page of `kubectl jobset dashboard`, see pkg/dashboard and hack/web. Included from Makefile.

##@ Dashboard of the plugin

.PHONY: test-web
test-web: ## Test the page of `kubectl jobset dashboard` in Chromium, with 2, 20 and 5,000 workers: speed, keyboard, names, contrast
	@cd hack/web && go test -count=1 -v .

.PHONY: update-web-pictures
update-web-pictures: ## Write docs/pictures/dashboard-*.png from that test
	@cd hack/web && go test -count=1 -v -run=TestThePageShowsAGroupRestart . -pictures=../../docs/pictures

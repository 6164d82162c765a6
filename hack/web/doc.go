/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package web tests the page of `kubectl jobset dashboard` in Chromium. It is a module of its own, so that nothing that
// ships depends on the driver of the browser. Run it with: make test-web
package web

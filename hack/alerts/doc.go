/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package alerts shows that the alerts of config/components/prometheus/rules.yaml
// fire when they should, and only then. There is nothing in it but tests: `make
// test-alerts` runs them.
//
// The rules are read by the package by which Prometheus reads them (rulefmt),
// their expressions are run by its engine over made-up series, and their texts
// are filled in by its templates. How a rule goes from pending to firing and
// back is written anew, in rule_test.go: the package of Prometheus that does it
// needs the libraries of three clouds.
//
// It is a module of its own, so that nobody who uses JobSet depends on Prometheus.
package alerts

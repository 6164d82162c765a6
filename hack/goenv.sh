#!/usr/bin/env bash
# One way to call Go: what one script has compiled, here or in another clone, no other
# compiles again. Sourced by scripts that build or test; the Makefile exports the same.
# The race detector needs C: CGO_ENABLED=1 for that command alone. Without the
# debugging information a package compiles in three quarters of the time; no test needs it.
set -euo pipefail

export CGO_ENABLED=0 GOWORK=off GOFLAGS="-mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags=-w"

# Copyright 2026 The JobSet Authors.
# SPDX-License-Identifier: Apache-2.0

# The image of the manager. Build it with BuildKit, which sets the platform arguments:
#   docker buildx build --platform=linux/amd64,linux/arm64 --build-arg GIT_TAG=v0.13.0 --build-arg GIT_COMMIT=... .
ARG BUILDER_IMAGE=golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

# Declared for builders that do not set it; those need --build-arg BUILDPLATFORM=linux/amd64.
ARG BUILDPLATFORM

# Compilers run on the platform of the builder and cross-compile: no emulation.
FROM --platform=${BUILDPLATFORM} ${BUILDER_IMAGE} AS builder
WORKDIR /workspace

# Modules change seldom: downloading them is a layer of its own.
COPY go.mod go.sum ./
RUN go mod download

COPY api/ api/
COPY cmd/manager/ cmd/manager/
COPY pkg/ pkg/
COPY supervisor/protocol/ supervisor/protocol/

ARG TARGETOS
ARG TARGETARCH
ARG GIT_TAG=v0.0.0-main
ARG GIT_COMMIT=unknown
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath \
    -ldflags "-s -w -X sigs.k8s.io/jobset/pkg/version.GitVersion=${GIT_TAG} -X sigs.k8s.io/jobset/pkg/version.GitCommit=${GIT_COMMIT}" \
    -o /manager ./cmd/manager

# No --platform here: the base has to be that of the target.
FROM ${BASE_IMAGE}
COPY --from=builder /manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]

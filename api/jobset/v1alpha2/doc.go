/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha2 is the JobSet API: a group of Jobs that run as one.
//
// The generators of client-go read the markers of a package in a file of this name only.
//
// +kubebuilder:object:generate=true
// +groupName=jobset.x-k8s.io
// +k8s:openapi-gen=true
package v1alpha2

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

const apiDir = "api/jobset/v1alpha2"

func apiPage(root string) (map[string]string, error) {
	src, err := readSource(root, apiDir)
	if err != nil {
		return nil, err
	}
	types, err := typeSections{src: src, apiVersion: jobset.GroupVersion.String()}.render("JobSet", "JobSetList")
	if err != nil {
		return nil, err
	}
	return map[string]string{"types": types}, nil
}

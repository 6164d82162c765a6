/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the configuration file of the JobSet manager.
// +kubebuilder:object:generate=true
// +groupName=config.jobset.x-k8s.io
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every type in this package.
	GroupVersion = schema.GroupVersion{Group: "config.jobset.x-k8s.io", Version: "v1alpha1"}

	// SchemeBuilder collects what AddToScheme registers.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes, addDefaults)

	// AddToScheme adds the types of this package, and their defaults, to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	// No metav1.AddToGroupVersion: a configuration file is never listed or watched.
	scheme.AddKnownTypes(GroupVersion, &Configuration{})
	return nil
}

func addDefaults(scheme *runtime.Scheme) error {
	scheme.AddTypeDefaultingFunc(&Configuration{}, func(obj any) {
		SetDefaults_Configuration(obj.(*Configuration))
	})
	return nil
}

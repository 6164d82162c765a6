/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// NeedsService reports whether Pods of the JobSet get host names, hence a headless Service.
func NeedsService(js *jobset.JobSet) bool {
	return js.Spec.Network != nil && ptr.Deref(js.Spec.Network.EnableDNSHostnames, false)
}

// Subdomain returns the subdomain of the Pods and the name of the headless Service.
// It is computed at use, so that it follows a generated JobSet name.
func Subdomain(js *jobset.JobSet) string {
	if js.Spec.Network != nil && js.Spec.Network.Subdomain != "" {
		return js.Spec.Network.Subdomain
	}
	return js.Name
}

// Service returns the headless Service that gives the Pods their host names.
func Service(js *jobset.JobSet) *corev1.Service {
	publish := true
	if js.Spec.Network != nil {
		publish = ptr.Deref(js.Spec.Network.PublishNotReadyAddresses, true)
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:            Subdomain(js),
			Namespace:       js.Namespace,
			OwnerReferences: []metav1.OwnerReference{OwnerReference(js)},
		},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			Selector:                 map[string]string{jobset.JobSetNameKey: js.Name},
			PublishNotReadyAddresses: publish,
		},
	}
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
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

// ServiceTrouble says why a Service with the name of the headless Service gives Pods no host names, which others made; "" if it
// does. A Service without a selector has endpoints that somebody maintains.
func ServiceTrouble(js *jobset.JobSet, service *corev1.Service) string {
	if service == nil || metav1.IsControlledBy(service, js) || len(service.Spec.Selector) == 0 {
		return ""
	}
	owner := ""
	if controller := metav1.GetControllerOfNoCopy(service); controller != nil {
		owner = fmt.Sprintf(", which belongs to %s %s,", controller.Kind, controller.Name)
	}
	why := ""
	if service.Spec.ClusterIP != corev1.ClusterIPNone {
		why = "is not headless"
	} else if left := unselected(js, labels.SelectorFromSet(service.Spec.Selector)); left != "" {
		why = fmt.Sprintf("selects %s, which Pods of ReplicatedJob %s do not have", labels.Set(service.Spec.Selector), left)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("Service %s%s %s, so these Pods have no host names: use another spec.network.subdomain, or delete this Service",
		service.Name, owner, why)
}

// unselected returns the first ReplicatedJob with Pods that are not selected. It looks at the first Job of each.
func unselected(js *jobset.JobSet, selector labels.Selector) string {
	b := NewBuilder(js)
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		name := placement.JobName(js.Name, rjob.Name, 0)
		pods := merged(rjob.Template.Spec.Template.Labels, b.keys(rjob, 0), map[string]string{batchv1.JobNameLabel: name, "job-name": name})
		if rjob.Replicas > 0 && !selector.Matches(labels.Set(pods)) {
			return rjob.Name
		}
	}
	return ""
}

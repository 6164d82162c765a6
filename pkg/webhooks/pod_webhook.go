/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"sigs.k8s.io/jobset/pkg/placement"
)

// Every Pod of every JobSet comes through here, most of them to get one label.
// So a Pod is decoded once and the patch is written by hand; comparing a
// Pod before and after would cost several times as much.

// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=mpod.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=vpod.kb.io,admissionReviewVersions=v1

// Paths of the webhooks of Pods, those of the markers above.
const (
	mutatePodPath   = "/mutate--v1-pod"
	validatePodPath = "/validate--v1-pod"
)

// podWebhook places Pods exclusively. What it reads comes from caches, which lag:
// a follower created right after its leader was scheduled may be refused once more.
type podWebhook struct {
	// reader needs the index placement.PodNameIndex.
	reader  client.Reader
	decoder admission.Decoder
}

// mutate labels a new Pod with its priority, and, if it is placed exclusively,
// gives it affinities or the domain of its leader.
func (w *podWebhook) mutate(ctx context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := w.decoder.Decode(req, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	var domain *placement.Domain
	if topology, follows := follower(pod); follows {
		leader, lookup, err := w.leaderOf(ctx, req.Namespace, pod)
		switch {
		case err != nil:
			return admission.Errored(http.StatusInternalServerError, err)
		case lookup != nil || leader.Spec.NodeName == "":
			// Not refused here, so that validation alone says why.
		default:
			if domain, err = w.domainOf(ctx, leader, topology); err != nil {
				return admission.Denied(err.Error())
			}
		}
	}
	return patched(pod, placement.Mutate(pod, domain))
}

// validate refuses followers whose leader has no domain yet.
func (w *podWebhook) validate(ctx context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := w.decoder.Decode(req, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if _, follows := follower(pod); !follows {
		return admission.Allowed("")
	}
	leader, lookup, err := w.leaderOf(ctx, req.Namespace, pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if err := placement.ValidateFollower(pod, leader, lookup); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

// follower tells whether a Pod has to go where its leader is, and within which topology.
func follower(pod *corev1.Pod) (topology string, follows bool) {
	topology, exclusive := placement.Topology(pod)
	return topology, exclusive && placement.OfJobSet(pod) && !placement.IsLeader(pod)
}

// leaderOf looks the leader of a follower up. That there is none is a finding, lookup, not an error.
func (w *podWebhook) leaderOf(ctx context.Context, namespace string, pod *corev1.Pod) (leader *corev1.Pod, lookup, err error) {
	var candidates corev1.PodList
	if key, err := placement.LeaderNameKey(pod); err == nil {
		err := w.reader.List(ctx, &candidates, client.InNamespace(namespace),
			client.MatchingFields{placement.PodNameIndex: key}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, nil, fmt.Errorf("looking for the leader of a follower pod: %w", err)
		}
	}
	leader, lookup = placement.FindLeader(pod, candidates.Items)
	return leader, lookup, nil
}

// domainOf reads the domain of a leader. Clients would take "not found" for the
// namespace, or for Pods as such, so a missing node is refused like the rest.
func (w *podWebhook) domainOf(ctx context.Context, leader *corev1.Pod, topology string) (*placement.Domain, error) {
	node := &corev1.Node{}
	err := w.reader.Get(ctx, types.NamespacedName{Name: leader.Spec.NodeName}, node, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		err = apierrors.NewNotFound(corev1.Resource("nodes"), leader.Spec.NodeName) // in the words of the API server, not of the cache
		return nil, fmt.Errorf("reading the node of leader pod %q: %w. %s", leader.Name, err, placement.Transient)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the node of leader pod %q: %w", leader.Name, err)
	}
	domain, err := placement.DomainOf(node, topology)
	if err != nil {
		return nil, err
	}
	return &domain, nil
}

// patched answers with what is to be added to a Pod.
func patched(pod *corev1.Pod, m placement.Mutation) admission.Response {
	patch := podPatch(pod, m)
	if len(patch) == 0 {
		return admission.Allowed("")
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encoding the patch of a pod: %w", err))
	}
	kind := admissionv1.PatchTypeJSONPatch
	response := admission.Allowed("")
	response.Patch, response.PatchType = raw, &kind
	return response
}

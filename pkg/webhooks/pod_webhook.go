/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
)

// Every Pod of every JobSet comes through here, and most only get one label.
// So a Pod is decoded once and the patch is built directly; computing it by comparing the
// Pod before and after would cost several times as much.

// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=mpod.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=vpod.kb.io,admissionReviewVersions=v1

// Paths of the Pod webhooks, as in the markers above.
const (
	mutatePodPath   = "/mutate--v1-pod"
	validatePodPath = "/validate--v1-pod"
)

// podWebhook handles exclusive placement of Pods, and keeps them off nodes that their JobSet avoids. It reads from caches, which lag:
// a follower created right after its leader was scheduled may be refused once.
type podWebhook struct {
	reader  client.Reader
	pods    placement.Pods
	decoder admission.Decoder
	gates   gates.Set
	now     func() time.Time
}

// mutate labels a new Pod with its priority, keeps it off the nodes that its JobSet avoids, and, if it
// is placed exclusively, gives it affinities or the domain of its leader.
func (w *podWebhook) mutate(ctx context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Create {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := w.decoder.Decode(req, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	var to placement.Spot
	if topology, follows := follower(pod); follows {
		found, err := w.leaderOf(ctx, req.Namespace, pod)
		switch {
		case err != nil:
			return admission.Errored(http.StatusInternalServerError, err)
		case found.ended:
			if to, err = w.after(ctx, req.Namespace, pod, found.leader, topology); err != nil {
				return admission.Errored(http.StatusInternalServerError, err)
			}
		case found.lookup != nil || found.leader.Node == "":
			// Not refused here: the validating webhook refuses it and says why.
		default:
			if to.Domain, err = w.domainOf(ctx, found.leader, topology); err != nil {
				return admission.Denied(err.Error())
			}
		}
	}
	return patched(pod, placement.Mutate(pod, to), w.avoided(ctx, req.Namespace, pod))
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
	found, err := w.leaderOf(ctx, req.Namespace, pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if found.ended {
		err = placement.ValidateAfter(pod)
	} else {
		err = placement.ValidateFollower(pod, found.leader, found.lookup)
	}
	if err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}

// follower reports whether a Pod must be placed in the domain of its leader, and of which topology.
func follower(pod *corev1.Pod) (topology string, follows bool) {
	topology, exclusive := facts.Topology(pod)
	return topology, exclusive && placement.OfJobSet(pod) && !facts.Leads(pod)
}

// foundLeader is the leader of a follower, or why it is not found. If it has ended, it is its Pod, or nil if that is gone.
type foundLeader struct {
	leader *facts.Member
	ended  bool
	lookup error
}

// leaderOf looks up the leader of a follower. The Job is read only if no leader lives.
func (w *podWebhook) leaderOf(ctx context.Context, namespace string, pod *corev1.Pod) (found foundLeader, err error) {
	var candidates []*facts.Member
	if key, err := placement.LeaderNameKey(pod); err == nil {
		// A read by a client of the cache would wait, too: a refusal makes the Job controller wait for longer.
		if !toolscache.WaitForCacheSync(ctx.Done(), w.pods.Complete) {
			return found, errors.New("looking for the leader of a follower pod: the cache of Pods is not complete yet. " + placement.Transient)
		}
		if candidates, err = w.pods.ByName(namespace, key); err != nil {
			return found, fmt.Errorf("looking for the leader of a follower pod: %w", err)
		}
	}
	if found.leader, found.lookup = placement.FindLeader(pod, candidates); found.lookup == nil {
		return found, nil
	}
	job, err := w.jobOf(ctx, namespace, pod)
	if err != nil {
		return found, err
	}
	found.leader, found.ended = placement.EndedLeader(pod, candidates, job)
	return found, nil
}

// domainOf returns the domain of a leader. Clients would take a "not found" response to mean the
// namespace, or the Pods resource, so the caller denies a missing node like other errors.
func (w *podWebhook) domainOf(ctx context.Context, leader *facts.Member, topology string) (*placement.Domain, error) {
	node := &corev1.Node{}
	err := w.reader.Get(ctx, types.NamespacedName{Name: leader.Node}, node, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		err = apierrors.NewNotFound(corev1.Resource("nodes"), leader.Node) // with the wording of the API server instead of the cache
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

// patched returns a response with the patch of a Pod.
func patched(pod *corev1.Pod, m placement.Mutation, avoided []avoidedNode) admission.Response {
	patch, warnings := podPatch(pod, m, avoided)
	if len(patch) == 0 {
		return admission.Allowed("").WithWarnings(warnings...)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encoding the patch of a pod: %w", err))
	}
	kind := admissionv1.PatchTypeJSONPatch
	response := admission.Allowed("").WithWarnings(warnings...)
	response.Patch, response.PatchType = raw, &kind
	return response
}

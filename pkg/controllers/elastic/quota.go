/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/elastic"
)

// addQuotas adds what the quotas of the namespaces of jobs leave (P112). A quota with a scope is for some Pods only, so it is left out.
func (a *autoscaler) addQuotas(ctx context.Context, in *elastic.Input) error {
	quotas := &corev1.ResourceQuotaList{}
	if err := a.bound.List(ctx, quotas, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing ResourceQuotas: %w", err)
	}
	planned := map[string]bool{}
	for i := range in.Jobs {
		planned[in.Jobs[i].Namespace] = true
	}
	in.Quotas = map[string]elastic.Headroom{}
	for i := range quotas.Items {
		quota := &quotas.Items[i]
		if !planned[quota.Namespace] || len(quota.Spec.Scopes) > 0 || quota.Spec.ScopeSelector != nil {
			continue
		}
		headroom, known := in.Quotas[quota.Namespace]
		if !known {
			headroom = elastic.Headroom{Request: elastic.Resources{}, Limit: elastic.Resources{}}
			in.Quotas[quota.Namespace] = headroom
		}
		limit(headroom, quota)
	}
	return nil
}

// limit lowers a headroom to what one more quota leaves.
func limit(headroom elastic.Headroom, quota *corev1.ResourceQuota) {
	hard, used := elastic.Of(quota.Status.Hard), elastic.Of(quota.Status.Used)
	for name, most := range quota.Status.Hard {
		of, to := headroom.Request, limited(name)
		if rest, ofLimits := strings.CutPrefix(string(name), "limits."); ofLimits {
			of, to = headroom.Limit, corev1.ResourceName(rest)
		}
		left := hard[name] - used[name]
		if to == corev1.ResourceCPU { // Of knows only the name of a request
			taken := quota.Status.Used[name]
			left = most.MilliValue() - taken.MilliValue()
		}
		if was, known := of[to]; !known || left < was {
			of[to] = left
		}
	}
}

// limited returns the resource of a Pod that an entry of a quota limits. Entries for other objects limit what no Pod requests.
func limited(entry corev1.ResourceName) corev1.ResourceName {
	if entry == "count/pods" {
		return corev1.ResourcePods
	}
	return corev1.ResourceName(strings.TrimPrefix(string(entry), "requests."))
}

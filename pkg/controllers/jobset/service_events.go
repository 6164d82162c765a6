/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
)

// watchServices reconciles a JobSet when its headless Service changes, and when one of that name that was somebody else's, or that
// another JobSet made for a subdomain that both use, is gone: then it can create its own (C96).
func watchServices(ctx context.Context, c cache.Cache, b *builder.Builder) error {
	users, err := shared.IndexKind(ctx, c, &jobset.JobSet{}, constants.JobSetsIndexByService, func(js *jobset.JobSet) []string {
		if !children.NeedsService(js) {
			return nil
		}
		return []string{js.Namespace + "/" + children.Subdomain(js)}
	})
	if err != nil {
		return fmt.Errorf("finding the JobSets of a Service: %w", err)
	}
	b.Owns(&corev1.Service{}).Watches(&corev1.Service{}, handler.Funcs{DeleteFunc: func(ctx context.Context, evt event.DeleteEvent, q queue) {
		name := types.NamespacedName{Namespace: evt.Object.GetNamespace(), Name: evt.Object.GetName()}
		waiting, err := users.Under(name.String())
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Looking for the JobSets of a Service that is gone", "service", name)
		}
		for _, js := range waiting {
			wakeJobSet(js, q)
		}
	}})
	return nil
}

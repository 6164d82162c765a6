/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package shared

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logWrites is the level of each write to the API server. Objects have the same keys everywhere, in the webhooks and the
// agent as well: jobSet, job, pod, node, epoch; why something was done is the key "reason".
const logWrites = 2

// PassLogger returns the logger of the passes of a controller. Without it controller-runtime uses the kind as the key.
func PassLogger[R any](log logr.Logger, controller, key string, name func(*R) types.NamespacedName) func(*R) logr.Logger {
	log = log.WithValues("controller", controller)
	return func(request *R) logr.Logger {
		if request == nil {
			return log
		}
		object := name(request)
		return log.WithValues(key, klog.KRef(object.Namespace, object.Name))
	}
}

// Wrote logs a write that succeeded, and why it was made.
func Wrote(ctx context.Context, what, reason string, keysAndValues ...any) {
	ctrl.LoggerFrom(ctx).V(logWrites).Info(what, append(keysAndValues, "reason", reason)...)
}

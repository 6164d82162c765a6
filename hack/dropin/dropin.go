/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package dropin makes go.mod require what the Kubeflow Trainer and its tests import. hack/verify-dropin.sh builds both
// against this repository.
package dropin

import (
	_ "github.com/kubeflow/trainer/v2/pkg/controller"
	_ "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	_ "github.com/kubeflow/trainer/v2/pkg/webhooks"
)

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// torchPrefix begins the name of each variable that torchrun reads in the place of an argument.
	torchPrefix = "PET_"
	// torchPort is where rank 0 listens, the default of torchrun.
	torchPort = "29500"
	// ofEpoch ends an identifier that is another one in each epoch.
	ofEpoch = "-" + protocol.EpochPlaceholder
)

// torchVariables are those by which torchrun finds its peers, and those that torchrun would set for a program that
// is started without it (P121). The group restarts, so torchrun must not. A process of
// another group or epoch has another identifier, and completes no rendezvous.
func torchVariables(uid string) []variable {
	return []variable{
		{torchPrefix + "NNODES", protocol.SizePlaceholder},
		{torchPrefix + "NODE_RANK", protocol.RankPlaceholder},
		{torchPrefix + "MASTER_ADDR", protocol.MasterPlaceholder},
		{torchPrefix + "MASTER_PORT", torchPort},
		{torchPrefix + "MAX_RESTARTS", "0"},
		{torchPrefix + "MONITOR_INTERVAL", "0.5"},
		{torchPrefix + "RDZV_ID", uid + ofEpoch},
		{"RANK", protocol.RankPlaceholder},
		{"WORLD_SIZE", protocol.SizePlaceholder},
		{"LOCAL_RANK", "0"},
		{"LOCAL_WORLD_SIZE", "1"},
		{"MASTER_ADDR", protocol.MasterPlaceholder},
		{"MASTER_PORT", torchPort},
	}
}

// TorchEnv returns the position of the first variable that the author of a container sets for torchrun, or -1. Such a
// container gets none from us: a mix of both would be consistent by chance only.
func TorchEnv(c *corev1.Container) int {
	return slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return strings.HasPrefix(v.Name, torchPrefix) })
}

// CarriesTorch reports whether the Pods of a Job can have all variables of PyTorch: torchrun takes itself for the only
// one if it has no size, and for the first one if it has no rank.
func (at Place) CarriesTorch(mode jobset.InPlaceRestartMode) bool {
	return at.Master != "" && (mode == jobset.ProcessMode || at.KnowsSize() && at.KnowsRank())
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"strings"

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

func isTorchName(name string) bool { return strings.HasPrefix(name, torchPrefix) }

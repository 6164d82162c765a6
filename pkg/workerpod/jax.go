/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Variables by which a JAX program finds its peers. JAX reads the first by itself; the others have the names of the
// arguments of jax.distributed.initialize, as launch scripts use them.
const (
	// jaxAddress holds `JOBSET_MASTER_ADDR` and port `8476`; JAX reads it itself.
	// +reference=variables-of-jax | ... | if the Pod of rank 0 was replaced
	jaxAddress = "JAX_COORDINATOR_ADDRESS"
	// jaxSize holds the same as `JOBSET_WORLD_SIZE`; pass it as `num_processes`.
	// +reference=variables-of-jax | ... | after a change of size
	jaxSize = "JAX_NUM_PROCESSES"
	// jaxRank holds the same as `JOBSET_RANK`; pass it as `process_id`.
	// +reference=variables-of-jax | ... | after a change of size
	jaxRank = "JAX_PROCESS_ID"
	// jaxPort is where rank 0 listens. JAX has no default for it where the address is given.
	jaxPort = "8476"
)

// JaxNames are the variables of JAX (P127). Others that begin with JAX_ configure JAX, and are the author's.
var JaxNames = []string{jaxAddress, jaxSize, jaxRank}

// jaxVariables are those of one process of JAX for each container (P127).
func jaxVariables(string) []variable {
	return []variable{
		{jaxAddress, protocol.MasterPlaceholder + ":" + jaxPort},
		{jaxSize, protocol.SizePlaceholder},
		{jaxRank, protocol.RankPlaceholder},
	}
}

func isJaxName(name string) bool { return slices.Contains(JaxNames, name) }

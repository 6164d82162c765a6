/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

// SigningKey is the file with the key by which the API server signs tokens of service accounts.
func (c *Cluster) SigningKey() string { return c.plane.SigningKey() }

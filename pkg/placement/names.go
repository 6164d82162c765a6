/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package placement derives the names of Jobs and Pods and, from them, where they stand.
package placement

import (
	"crypto/sha1" //nolint:gosec // the key is an identifier on the wire, not a secret
	"encoding/hex"
	"fmt"
	"strconv"
)

// JobName returns the name of the Job at an index of a ReplicatedJob.
func JobName(jobSet, replicatedJob string, jobIndex int) string {
	return jobSet + "-" + replicatedJob + "-" + strconv.Itoa(jobIndex)
}

// PodHostname returns the stable part of the name of an Indexed Job's Pod, its host name too.
func PodHostname(jobSet, replicatedJob string, jobIndex, podIndex int) string {
	return JobName(jobSet, replicatedJob, jobIndex) + "-" + strconv.Itoa(podIndex)
}

// ClaimName returns the name of the PersistentVolumeClaim made from a template of a JobSet.
func ClaimName(template, jobSet string) string {
	return template + "-" + jobSet
}

// NamespacedJob returns the value of the node label that reserves a node for one Job.
func NamespacedJob(namespace, jobName string) string {
	return namespace + "_" + jobName
}

// JobKey returns what identifies a Job in labels, where a namespace and a name do not fit:
// the SHA-1, in 40 hex digits, of "<namespace>/<job name>".
func JobKey(namespace, jobName string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s/%s", namespace, jobName)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

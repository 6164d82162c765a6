/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"strconv"
	"strings"
)

// AddressKey is the annotation by which the agent of rank 0 tells the manager the address of its Pod (P122).
const AddressKey = "jobset.sigs.k8s.io/address"

// IsAddress reports whether a text is an IPv4 address as it is usually written, and nothing else: workers get it in
// their environment, and programs put a port behind it.
func IsAddress(text string) bool {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		number, err := strconv.Atoi(part)
		if err != nil || number < 0 || number > 255 || strconv.Itoa(number) != part {
			return false
		}
	}
	return len(parts) == 4
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "testing"

func TestAnAddressIsAnIPv4Literal(t *testing.T) {
	for text, want := range map[string]bool{
		"10.1.2.3": true, "0.0.0.0": true, "255.255.255.255": true,
		"": false, "10.1.2": false, "10.1.2.3.4": false, "10.1.2.256": false, "10.1.2.-3": false, "10.1.2.+3": false, "010.1.2.3": false, "10.1..3": false,
		"10.1.2.3\t": false, "10.1.2.3:29500": false, "fd00::1": false, "::ffff:10.1.2.3": false, "train-0-0.train": false, "10.1.2.3\nX=1": false,
	} {
		if got := IsAddress(text); got != want {
			t.Errorf("P122: %q is an address: %t, want %t", text, got, want)
		}
	}
}

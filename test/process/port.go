/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
)

// Localhost is the address on which tests listen.
const Localhost = "127.0.0.1"

// portsPerSlot ports above firstPort belong to each slot. All are below 32768, from where the kernel takes the
// ports of outgoing connections, so one that is free stays free until it is used seconds later.
const firstPort, portsPerSlot = 20000, 600

// given counts the ports that FreePort tried.
var given atomic.Uint32

// FreePort returns a port of Localhost that nothing listens on: no other program gets it, and this one only after it
// has asked for all the others.
func FreePort() (int, error) {
	slot, err := Slot()
	if err != nil {
		return 0, err
	}
	for range portsPerSlot {
		port := firstPort + slot*portsPerSlot + int(given.Add(1)%portsPerSlot)
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("freeing a port: %w", err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port from %d on", firstPort+slot*portsPerSlot)
}

// FreeAddress returns Localhost with a free port.
func FreeAddress() (string, error) {
	port, err := FreePort()
	return Address(port), err
}

// Address returns Localhost with this port.
func Address(port int) string { return net.JoinHostPort(Localhost, strconv.Itoa(port)) }

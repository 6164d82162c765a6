/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Localhost is the address on which tests listen.
const Localhost = "127.0.0.1"

// given are the ports that FreePort returned: nothing may listen on them yet.
var given sync.Map

// FreePort returns a port of Localhost that nothing listens on, another one each time. It is below 32768, from where
// the kernel takes the ports of outgoing connections, so it is still free when it is used seconds later.
func FreePort() (int, error) {
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		listener, err := net.Listen("tcp", Address(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("freeing a port: %w", err)
		}
		return port, nil
	}
	return 0, errors.New("no free port from 20000 to 29999")
}

// FreeAddress returns Localhost with a free port.
func FreeAddress() (string, error) {
	port, err := FreePort()
	return Address(port), err
}

// Address returns Localhost with this port.
func Address(port int) string { return net.JoinHostPort(Localhost, strconv.Itoa(port)) }

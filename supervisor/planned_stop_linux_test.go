/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// TestAProgramSavesAtItsSignal: it hears the signal once, and nothing of the kubelet's that follows (P142).
func TestAProgramSavesAtItsSignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []string{"TERM", "USR1", "USR2"} {
		t.Run(signal, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := newPod(t)
				p.listen()
				saving := fmt.Sprintf("until [ -e %s ]; do :; done; echo saved; exit 0", p.path("go"))
				p.start([]string{"/bin/sh", "-c", fmt.Sprintf(`trap 'echo TERM >> %[1]s' TERM; trap 'echo USR1 >> %[1]s' USR1; trap 'echo USR2 >> %[1]s' USR2
					echo up; while [ ! -s %[1]s ]; do :; done; echo saves; %[2]s`, p.path("heard"), saving)}, place)
				p.hello()
				p.runs(1)
				p.prints("up\n")
				p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 1, Planned: &protocol.PlannedStop{GraceSeconds: 300, Signal: signal}})
				p.prints("saves\n")
				p.signal(syscall.SIGTERM)
				p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 1})
				if err := os.WriteFile(p.path("go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				p.exits(143) // a Pod that is deleted must not complete its index
				p.prints("saved\n")
				if heard, err := os.ReadFile(p.path("heard")); err != nil || strings.Fields(string(heard))[0] != signal || len(strings.Fields(string(heard))) != 1 {
					t.Errorf("the program heard %q, %v, want %s once", heard, err, signal)
				}
			})
		})
	}
}

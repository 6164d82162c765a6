/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// pipes returns the named pipes of the shared volume.
func (p *pod) pipes() (found []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeNamedPipe != 0 {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func TestNothingOfANeighbourComesThroughAGate(t *testing.T) {
	t.Parallel()
	p := supervise(t, works, warmly())
	p.begins()
	p.said("runs epoch=1", 1)
	p.standby(1)
	for _, path := range p.pipes() {
		pipe, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pipe.WriteString(`{"JOBSET_EPOCH":"666"}` + "\n")
		if err != nil {
			t.Fatal(err)
		}
		_ = pipe.Close()
		p.said("runs epoch=666", 1)
		t.Errorf("P160a: through %s a neighbour has chosen the environment of the standby", path)
	}
	p.warms(1)
	p.said("runs epoch=2", 1)
}

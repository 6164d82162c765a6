/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestTheWorkersStreamsAreItsOwn(t *testing.T) {
	t.Parallel()
	const size = 100_000_000
	all, ours := sha256.New(), sha256.New()
	if _, err := io.CopyN(ours, &repeated{text: "0123456789abcde\n"}, size); err != nil {
		t.Fatal(err)
	}
	p := newPod(t)
	p.listen()
	p.start([]string{"/bin/sh", "-c", fmt.Sprintf("cat; yes 0123456789abcde | head -c %d", size)}, func(cmd *exec.Cmd) {
		cmd.Stdin = strings.NewReader("")
		cmd.Stdout = all
	})
	p.hello()
	p.runs(1)
	p.next(protocol.Done)
	p.exits(0)
	if string(all.Sum(nil)) != string(ours.Sum(nil)) {
		t.Errorf("P62: of %d bytes on standard output something else arrives", size)
	}
}

// repeated is a text again and again.
type repeated struct {
	text string
	next int
}

func (r *repeated) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = r.text[r.next]
		r.next = (r.next + 1) % len(r.text)
	}
	return len(into), nil
}

// TestAWorkerInheritsWhatItsContainerHas: nothing of the supervisor, or of the runtime of Go, may show (P62).
func TestAWorkerInheritsWhatItsContainerHas(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := newPod(t)
	p.listen()
	script := `echo "limit $(ulimit -Sn)"; grep -E 'SigBlk|SigIgn' /proc/self/status; echo "in $(pwd)"; echo "umask $(umask)"
		read line; echo "read $line"; echo "args $0 $*"; echo "group $(($(cut -d' ' -f5 /proc/$$/stat) - $$))"; sleep 1000 & echo "pid $$"; wait`
	// A thread with blocked signals gives them on to the supervisor that it starts.
	runtime.LockOSThread()
	before := setSignalMask(1<<(syscall.SIGUSR1-1) | 1<<(syscall.SIGTERM-1) | 1<<(syscall.SIGCHLD-1))
	p.start([]string{"sh", "-c", script, "a b", "c"}, env("SOME=thing"), func(cmd *exec.Cmd) {
		cmd.Path = "/bin/sh"
		cmd.Args = append([]string{"sh", "-c", `ulimit -Sn 256; trap "" PIPE TERM HUP; umask 027; exec "$0" "$@"`, exe}, cmd.Args[1:]...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader("a line\nof two\n")
	})
	setSignalMask(before)
	runtime.UnlockOSThread()
	p.hello()
	p.runs(1)
	for _, want := range []string{
		"limit 256\n", "SigBlk:\t0000000000000000\n", "SigIgn:\t", "in " + dir + "\n", "umask 0027\n",
		"read a line\n", "args a b c\n", "group 0\n",
	} {
		p.prints(want)
	}
	// "SigIgn:" stands before "in" in what was printed, so all of it is there.
	_, ignored, _ := strings.Cut(p.stdout.String(), "SigIgn:\t")
	mask, err := strconv.ParseUint(ignored[:16], 16, 64)
	for _, number := range []syscall.Signal{syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGTERM} {
		if err != nil || mask&(1<<(number-1)) != 0 {
			t.Errorf("P62: signal %d, which the supervisor was started with, is ignored in the worker: %q, %v", number, ignored[:16], err)
		}
	}
	p.prints("pid ")
	_, text, _ := strings.Cut(p.stdout.String(), "pid ")
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	// A shell opens files of its own, for a moment.
	waitFor(t, "P62: the worker has the descriptors of its container and no others", func() bool {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		return err == nil && !slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
			number, _ := strconv.Atoi(entry.Name())
			return number > 2 && !isInherited(number)
		})
	})
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SOME=thing", protocol.EpochEnv + "=1", protocol.RestartsEnv + "=0"} {
		if !strings.Contains("\x00"+string(environ), "\x00"+want+"\x00") {
			t.Errorf("P62: the environment of the worker has no %s", want)
		}
	}
	p.stop(1)
}

// isInherited reports whether this process hands a descriptor down, since whoever runs the tests did so.
func isInherited(descriptor int) bool {
	info, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", descriptor))
	_, flags, _ := strings.Cut(string(info), "flags:")
	fields := strings.Fields(flags)
	if len(fields) == 0 {
		return false
	}
	bits, err := strconv.ParseUint(fields[0], 8, 64)
	return err == nil && bits&syscall.O_CLOEXEC == 0
}

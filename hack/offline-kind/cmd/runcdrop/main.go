//go:build linux

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command runcdrop is a container runtime that stands before runc. Old Docker
// asks for every capability there is for a privileged container; on a machine
// that lacks one, runc refuses. This takes out of the request what the machine
// does not have and lets runc do the rest. It never adds anything.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The capabilities in the order of their bits, see capabilities(7).
var capabilities = strings.Fields(`
	CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID
	CAP_SETPCAP CAP_LINUX_IMMUTABLE CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_ADMIN CAP_NET_RAW
	CAP_IPC_LOCK CAP_IPC_OWNER CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_CHROOT CAP_SYS_PTRACE CAP_SYS_PACCT
	CAP_SYS_ADMIN CAP_SYS_BOOT CAP_SYS_NICE CAP_SYS_RESOURCE CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_MKNOD
	CAP_LEASE CAP_AUDIT_WRITE CAP_AUDIT_CONTROL CAP_SETFCAP CAP_MAC_OVERRIDE CAP_MAC_ADMIN CAP_SYSLOG
	CAP_WAKE_ALARM CAP_BLOCK_SUSPEND CAP_AUDIT_READ CAP_PERFMON CAP_BPF CAP_CHECKPOINT_RESTORE`)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "runcdrop:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	held, err := bounding(string(status))
	if err != nil {
		return err
	}
	for _, file := range requests(args) {
		if err := edit(file, held); err != nil {
			return err
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		runc = "/usr/sbin/runc" // dockerd may have a short PATH
	}
	return syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
}

// bounding reads what this process, and so its children, can ever hold.
func bounding(status string) (map[string]bool, error) {
	for line := range strings.Lines(status) {
		value, ok := strings.CutPrefix(line, "CapBnd:")
		if !ok {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			return nil, err
		}
		held := map[string]bool{}
		for i, name := range capabilities {
			held[name] = bits>>i&1 == 1
		}
		return held, nil
	}
	return nil, errors.New("/proc/self/status shows no CapBnd")
}

// requests finds the files in which a container (create, run) or a further
// process in one (exec) is described. Docker spells both options out.
func requests(args []string) []string {
	var files []string
	for i, arg := range args {
		name, value, glued := strings.Cut(arg, "=")
		if !glued && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--bundle":
			files = append(files, filepath.Join(value, "config.json"))
		case "--process":
			files = append(files, value)
		}
	}
	return files
}

// edit rewrites a request that asks for more than is held and leaves others alone.
func edit(file string, held map[string]bool) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // runc says it better
	}
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // large numbers stay as they are
	var request map[string]any
	if err := decoder.Decode(&request); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	process := request
	if inner, ok := request["process"].(map[string]any); ok {
		process = inner
	}
	sets, _ := process["capabilities"].(map[string]any)
	if !drop(sets, held) {
		return nil
	}
	changed, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return os.WriteFile(file, changed, 0o600)
}

// drop takes what is not held out of every set and tells whether there was any.
func drop(sets map[string]any, held map[string]bool) bool {
	changed := false
	for name, set := range sets {
		asked, _ := set.([]any)
		kept := make([]any, 0, len(asked))
		for _, c := range asked {
			if s, ok := c.(string); ok && held[s] {
				kept = append(kept, c)
			}
		}
		if len(kept) != len(asked) {
			sets[name] = kept
			changed = true
		}
	}
	return changed
}

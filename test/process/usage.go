/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is USER_HZ, which is 100 on every architecture that Go runs on.
const ticksPerSecond = 100

// Child is a process that this one started. Of its name these are the first 15 letters.
type Child struct {
	PID  int
	Name string
	CPU  time.Duration
}

// Children are those that have not ended. Linux only: it reads /proc.
func Children() ([]Child, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, errors.Join(errors.New("reading CPU times: there is no /proc"), err)
	}
	var all []Child
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		name, parent, cpu, err := parseStat(text)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		if parent == os.Getpid() {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", file, err)
			}
			all = append(all, Child{pid, name, cpu})
		}
	}
	return all, nil
}

// parseStat reads the name, the parent and the CPU time out of /proc/PID/stat. The name is in
// parentheses and may hold anything, spaces and parentheses too.
func parseStat(text []byte) (name string, parent int, cpu time.Duration, err error) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return "", 0, 0, errors.New("it names no command")
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 13 {
		return "", 0, 0, fmt.Errorf("it has %d fields behind the command", len(fields))
	}
	var numbers [3]int
	for i, field := range []int{1, 11, 12} { // parent, user time, system time
		if numbers[i], err = strconv.Atoi(fields[field]); err != nil {
			return "", 0, 0, err
		}
	}
	return string(text[begin+1 : end]), numbers[0], time.Duration(numbers[1]+numbers[2]) * time.Second / ticksPerSecond, nil
}

// Resident is the resident memory of a process in bytes.
func Resident(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("reading the memory of process %d: %q", pid, text)
	}
	pages, err := strconv.Atoi(fields[1])
	return float64(pages * os.Getpagesize()), err
}

// PeakResident is the greatest resident memory that a process has had, in bytes.
func PeakResident(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the greatest memory of process %d: %w", pid, err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); !found || err != nil {
		return 0, errors.Join(fmt.Errorf("reading the greatest memory of process %d: there is no VmHWM", pid), err)
	}
	return kib * 1024, nil
}

// Files is the number of open files of a process.
func Files(pid int) (int, error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0, fmt.Errorf("counting the open files of process %d: %w", pid, err)
	}
	return len(open), nil
}

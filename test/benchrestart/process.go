/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

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

// cpuOfChildren says how many seconds of CPU the processes that this one started have used so far, by
// name. Those that have ended count no more.
func cpuOfChildren() (map[string]float64, error) {
	all, err := children()
	used := map[string]float64{}
	for _, c := range all {
		used[c.name] += c.cpu.Seconds()
	}
	return used, err
}

// residents is the resident memory of the processes that this one started, and of itself, in bytes by name.
func residents() (map[string]float64, error) {
	all, err := children()
	if err != nil {
		return nil, err
	}
	of := map[string]float64{}
	for _, c := range append(all, child{pid: os.Getpid(), name: nodesAndAgents}) {
		bytes, err := resident(c.pid)
		if err != nil {
			return nil, err
		}
		of[c.name] += bytes
	}
	return of, nil
}

// child is a process that this one started. Of its name these are the first 15 letters.
type child struct {
	pid  int
	name string
	cpu  time.Duration
}

// children are those that have not ended. Linux only: it reads /proc.
func children() ([]child, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, errors.Join(errors.New("reading CPU times: there is no /proc"), err)
	}
	var all []child
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
			all = append(all, child{pid, name, cpu})
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

// resident is the resident memory of a process in bytes.
func resident(pid int) (float64, error) {
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

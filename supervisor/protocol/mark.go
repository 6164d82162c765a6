/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// LogPrefix begins each message of a supervisor in the log of its container.
const LogPrefix = "jobset-supervisor: "

// RunEvent is what a line of a supervisor says about its worker.
type RunEvent string

const (
	// RunStart: the main process of the worker is about to start.
	RunStart RunEvent = "start"
	// RunEnd: it has ended. What it left behind may still print until it is killed.
	RunEnd RunEvent = "end"
)

// NoRank is the Rank of a worker that was told none (P102).
const NoRank = -1

// Mark is what programs find in the line by which a supervisor announces the start or the end of a worker (P129):
//
//	time=2026-11-22T21:41:43.920Z level=INFO msg="jobset-supervisor: TEXT" run=end epoch=1 rank=0 code=137 signal=9
//
// The text is for people. Behind it come words of a key and a value: first run, then those of epoch, rank, code,
// signal, oom, stopped, hung and step that apply; a worker outside of all epochs (P34) has no epoch. Readers skip keys that they do not
// know, so a later version may add some.
type Mark struct {
	Time  time.Time
	Run   RunEvent
	Epoch int32
	// Rank is JOBSET_RANK, or NoRank.
	Rank int32
	// Exit is how the worker ended, without a time and a Hang of its own.
	Exit Exit
	// Hung: it was killed because it gave no sign of life (P133).
	Hung bool
	// Step is the last that the worker told before its end (P130); 0 if it told none.
	Step int64
}

// Words are the keys and values of a mark in the order in which they are printed.
func (m Mark) Words() []any {
	words := []any{"run", string(m.Run)}
	add := func(applies bool, key string, value any) {
		if applies {
			words = append(words, key, value)
		}
	}
	add(m.Epoch != 0, "epoch", m.Epoch)
	add(m.Rank != NoRank, "rank", m.Rank)
	add(m.Run == RunEnd, "code", m.Exit.Code)
	add(m.Exit.Signal != 0, "signal", m.Exit.Signal)
	add(m.Exit.OOMKilled, "oom", true)
	add(m.Exit.Stopped, "stopped", true)
	add(m.Hung, "hung", true)
	add(m.Step > 0, "step", m.Step)
	return words
}

// FindMark returns the mark at the end of a line, and where its own line begins: a worker that prints no newline, as
// programs that draw their progress do, leaves its text before it.
func FindMark(line []byte) (m Mark, at int, ok bool) {
	const clock = "time="
	head := []byte(` level=INFO msg="` + LogPrefix)
	middle := bytes.LastIndex(line, head)
	if middle < 0 {
		return m, 0, false
	}
	at = bytes.LastIndex(line[:middle], []byte(clock))
	if at < 0 {
		return m, 0, false
	}
	var err error
	if m.Time, err = time.Parse(time.RFC3339Nano, string(line[at+len(clock):middle])); err != nil {
		return m, 0, false
	}
	text := string(line[middle+len(head)-len(LogPrefix)-1:]) // from the quote on
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return m, 0, false
	}
	m.Rank = NoRank
	for word := range strings.FieldsSeq(text[len(quoted):]) {
		key, value, _ := strings.Cut(word, "=")
		if !m.read(key, value) {
			return m, 0, false
		}
	}
	return m, at, m.Run != ""
}

// read takes over one word, and reports whether its value can be one.
func (m *Mark) read(key, value string) bool {
	number, err := strconv.ParseInt(value, 10, 32)
	switch key {
	case "step":
		m.Step, err = strconv.ParseInt(value, 10, 64)
	case "hung":
		m.Hung, err = strconv.ParseBool(value)
	case "run":
		m.Run = RunEvent(value)
		return m.Run == RunStart || m.Run == RunEnd
	case "epoch":
		m.Epoch = int32(number)
	case "rank":
		m.Rank = int32(number)
	case "code":
		m.Exit.Code = int(number)
	case "signal":
		m.Exit.Signal = int(number)
	case "oom":
		m.Exit.OOMKilled, err = strconv.ParseBool(value)
	case "stopped":
		m.Exit.Stopped, err = strconv.ParseBool(value)
	default:
		return true
	}
	return err == nil
}

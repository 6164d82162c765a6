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
	"os/exec"
	"syscall"
	"time"
)

const (
	// savePieces of a checkpoint are written one each second.
	savePieces = 20
	checkpoint = "/checkpoint/state"
	// lastWords is the file that the kubelet shows in the status of the Pod.
	lastWords = "/dev/termination-log"
)

// shell runs a command as a script does: signals that it does not handle end it, and the command goes on.
func shell(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("shell wants a command")
	}
	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	return err
}

// save works until SIGTERM, and then writes a checkpoint, which takes 20 seconds. How often it was told is a
// part of what it says at last.
func save([]string) error {
	received := ordered(syscall.SIGTERM)
	start("worker")
	first := <-received
	if first != syscall.SIGTERM {
		obey(first)
	}
	log.Info("saving")
	file, err := os.Create(checkpoint)
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	told := 1
	for piece := 0; piece < savePieces; {
		select {
		case <-received:
			told++
		case <-tick.C:
			if _, err := fmt.Fprintln(file, "piece", piece); err != nil {
				return err
			}
			piece++
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	content, err := os.ReadFile(checkpoint)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("saved %d pieces, told %d times", bytes.Count(content, []byte("\n")), told)
	log.Info(words)
	return os.WriteFile(lastWords, []byte(words), 0o644)
}

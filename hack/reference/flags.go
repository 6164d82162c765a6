/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

var (
	// command and option find commands and flags in what --help prints.
	command = regexp.MustCompile(`(?m)^  ([a-z]+)  `)
	option  = regexp.MustCompile(`(?m)^ +(-\w, )?(--[a-z-]+)(?: \w+)?  +(.*?)(?: \(default (.+)\))?$`)
)

// addFlags adds the flags of each command of the plugin but those that all commands have, as the plugin prints them.
func addFlags(rows tables, plugin string) error {
	all, err := exec.Command(plugin, "help").Output()
	if err != nil {
		return fmt.Errorf("asking the plugin for its commands: %w", err)
	}
	for _, match := range command.FindAllStringSubmatch(string(all), -1) {
		text, err := exec.Command(plugin, "help", match[1]).Output()
		if err != nil {
			return fmt.Errorf("asking the plugin for the flags of %s: %w", match[1], err)
		}
		_, flags, _ := strings.Cut(string(text), "\nFlags:\n")
		flags, _, _ = strings.Cut(flags, "\n\n")
		for _, flag := range option.FindAllStringSubmatch(flags, -1) {
			if flag[2] == "--help" {
				continue
			}
			value := strings.Trim(flag[4], `"[]`)
			if value != "" {
				value = "`" + value + "`"
			}
			if value == "`-1`" || strings.HasSuffix(value, ":dev`") { // stands for none, or is another one in a release
				value = ""
			}
			rows.add("flags", "`"+match[1]+"`", "`"+flag[1]+flag[2]+"`", value, quoted(flag[3]))
		}
	}
	return nil
}

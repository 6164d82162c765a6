/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command dockerconf adds a default runtime to Docker's daemon.json, or takes
// it out again in favour of runc, and leaves every other setting as it is. Once
// dockerd has read that, -like takes out the default runtime too if the file had
// none before, and the file if there was none.
//
//	dockerconf -file /etc/docker/daemon.json -runtime NAME -path /usr/local/lib/...
//	dockerconf -file /etc/docker/daemon.json -runtime NAME -remove
//	dockerconf -file /etc/docker/daemon.json -like COPY_OF_THE_FILE_BEFORE
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	file := flag.String("file", "/etc/docker/daemon.json", "configuration of dockerd")
	runtime := flag.String("runtime", "", "name of the runtime")
	path := flag.String("path", "", "program of the runtime")
	remove := flag.Bool("remove", false, "take the runtime out")
	like := flag.String("like", "", "copy of the file as it was before; empty if there was none")
	flag.Parse()
	change := func(data []byte) ([]byte, error) { return with(data, *runtime, *path) }
	switch {
	case flag.NArg() > 0 || *like == "" && (*runtime == "" || *path == "" && !*remove):
		flag.Usage()
		os.Exit(2)
	case *like != "":
		change = func(data []byte) ([]byte, error) {
			before, err := os.ReadFile(*like)
			if err != nil {
				return nil, err
			}
			return likeBefore(data, before)
		}
	case *remove:
		change = func(data []byte) ([]byte, error) { return without(data, *runtime) }
	}
	if err := update(*file, change); err != nil {
		fmt.Fprintln(os.Stderr, "dockerconf:", err)
		os.Exit(1)
	}
}

// update changes a file as a whole; a change to nothing removes it.
func update(file string, change func([]byte) ([]byte, error)) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	after, err := change(before)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(after) == 0 {
		return os.Remove(file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part := file + ".part"
	if err := os.WriteFile(part, after, 0o644); err != nil {
		return err
	}
	return os.Rename(part, file)
}

// object keeps the values that are not looked at here byte for byte.
type object map[string]json.RawMessage

// parse reads the configuration, its runtimes and its default runtime.
func parse(data []byte) (config, runtimes object, current string, err error) {
	config, runtimes = object{}, object{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &config); err != nil {
			return nil, nil, "", err
		}
	}
	if raw, ok := config["runtimes"]; ok {
		if err := json.Unmarshal(raw, &runtimes); err != nil {
			return nil, nil, "", err
		}
	}
	if raw, ok := config["default-runtime"]; ok {
		if err := json.Unmarshal(raw, &current); err != nil {
			return nil, nil, "", err
		}
	}
	return config, runtimes, current, nil
}

// set writes a value into an object; an empty map takes the key out.
func (o object) set(key string, value any) error {
	if inner, ok := value.(object); ok && len(inner) == 0 {
		delete(o, key)
		return nil
	}
	raw, err := json.Marshal(value)
	o[key] = raw
	return err
}

func (o object) bytes() ([]byte, error) {
	data, err := json.MarshalIndent(o, "", "  ")
	return append(data, '\n'), err
}

func with(data []byte, runtime, path string) ([]byte, error) {
	config, runtimes, current, err := parse(data)
	if err != nil {
		return nil, err
	}
	if current != "" && current != "runc" && current != runtime {
		return nil, fmt.Errorf("the default runtime is %s, which this does not replace", current)
	}
	err = errors.Join(
		runtimes.set(runtime, map[string]string{"path": path}),
		config.set("runtimes", runtimes),
		config.set("default-runtime", runtime))
	if err != nil {
		return nil, err
	}
	return config.bytes()
}

func without(data []byte, runtime string) ([]byte, error) {
	config, runtimes, current, err := parse(data)
	if err != nil {
		return nil, err
	}
	delete(runtimes, runtime)
	err = config.set("runtimes", runtimes)
	// Named, not left out: dockerd keeps what it has when a reload finds nothing.
	if current == "" || current == runtime {
		err = errors.Join(err, config.set("default-runtime", "runc"))
	}
	if err != nil {
		return nil, err
	}
	return config.bytes()
}

// likeBefore takes out what without had to name: a default runtime, where there was none before.
func likeBefore(data, before []byte) ([]byte, error) {
	config, _, current, err := parse(data)
	if err != nil {
		return nil, err
	}
	_, _, was, err := parse(before)
	if err != nil {
		return nil, fmt.Errorf("the copy of the file before: %w", err)
	}
	if was != "" || current != "runc" {
		return data, nil
	}
	delete(config, "default-runtime")
	if len(config) == 0 && len(before) == 0 {
		return nil, nil
	}
	return config.bytes()
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command dockerconf adds a default runtime to Docker's daemon.json, or takes
// it out again in favour of runc, and leaves every other setting as it is.
//
//	dockerconf -file /etc/docker/daemon.json -runtime NAME -path /usr/local/lib/... [-remove]
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
	flag.Parse()
	if *runtime == "" || (*path == "" && !*remove) || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := update(*file, *runtime, *path, *remove); err != nil {
		fmt.Fprintln(os.Stderr, "dockerconf:", err)
		os.Exit(1)
	}
}

func update(file, runtime, path string, remove bool) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var after []byte
	if remove {
		after, err = without(before, runtime)
	} else {
		after, err = with(before, runtime, path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
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

// object keeps the values that nobody here looks at byte for byte.
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

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command release makes the parts of a release that are more than a copy. hack/release/build.sh
// calls it. The same input gives the same bytes: nothing depends on the clock, on the user or
// on the directory.
//
//	release archive -out=FILE -time=SECONDS DIRECTORY        a .tar.gz of the files in a directory
//	release sbom -out=FILE -time=SECONDS BINARY...           which modules the builds of a program contain, as SPDX
//	release licences [-out=FILE] BINARY...                   their licences; fails if one is not allowed
//	release krew -out=FILE -version=VERSION -url=URL -homepage=URL ARCHIVE... the manifest of the kubectl plugin
//	release notes -out=FILE -version=VERSION CHANGELOG       the section of a version
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are the flags of all subcommands.
type options struct {
	out, version, url, homepage string
	time                        int64
	args                        []string
}

var commands = map[string]func(options) error{
	"archive": archive, "sbom": sbom, "licences": licences, "krew": krew, "notes": notes,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: release archive|sbom|licences|krew|notes [flags] ARGUMENT..., see hack/release/main.go")
	}
	var o options
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "", "file to write")
	flags.StringVar(&o.version, "version", "", "version of the release, such as v0.13.0")
	flags.StringVar(&o.url, "url", "", "where the files of the release can be downloaded")
	flags.StringVar(&o.homepage, "homepage", "", "the page about the plugin")
	flags.Int64Var(&o.time, "time", 0, "the time of the release, in seconds since 1970")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if o.args = flags.Args(); len(o.args) == 0 {
		return fmt.Errorf("%s: name what to read", args[0])
	}
	if o.out == "" && args[0] != "licences" {
		return fmt.Errorf("%s: -out is missing", args[0])
	}
	return commands[args[0]](o)
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestADashboardNeedsJobSetsThatCanBeRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args    []string
		changes map[string]func(http.ResponseWriter)
		want    string
	}{
		"two names":                        {args: []string{"a", "b"}, want: "name one JobSet, or none; there are 2 names"},
		"a name and all namespaces":        {args: []string{"train", "-A"}, want: "a JobSet is in one namespace"},
		"a name that does not exist":       {args: []string{"other"}, changes: map[string]func(http.ResponseWriter){jobSetsPath + "/other": refuse(404, "NotFound", "no")}, want: `there is no JobSet "other" in namespace "research"`},
		"a namespace that may not be read": {changes: map[string]func(http.ResponseWriter){jobSetsPath: refuse(403, "Forbidden", "not allowed")}, want: "listing JobSets: not allowed"},
		"a cluster without JobSet":         {changes: map[string]func(http.ResponseWriter){jobSetsPath: nil}, want: "this cluster does not serve jobset.x-k8s.io/v1alpha2"},
		"a port that there is not":         {args: []string{"--port=-1"}, want: "opening a port"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, tc.changes), append([]string{"dashboard"}, tc.args...)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
			if out != "" {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

func TestADashboardIsServedUntilItIsStopped(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(serving(jobset.InPlaceRestart, nil))
	defer api.Close()
	out, in := io.Pipe()
	root := newRoot(genericiooptions.IOStreams{In: strings.NewReader(""), Out: in, ErrOut: io.Discard})
	root.SetArgs([]string{"dashboard", "train", "--namespace=research", "--server=" + api.URL})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("nothing was printed")
	}
	address := lines.Text()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("the address is %s", address)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(page), "<title>JobSets</title>") {
		t.Errorf("the page is %s: %s", answer.Status, page)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// desktop makes the command open a program of ours, and returns what its argument is once it runs.
func desktop(t *testing.T) func() string {
	t.Helper()
	directory := t.TempDir()
	pipe := filepath.Join(directory, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"xdg-open", "open"} {
		script := "#!/bin/sh\nprintf %s \"$*\" > '" + pipe + "'\n"
		if err := os.WriteFile(filepath.Join(directory, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", directory)
	return func() string {
		arguments, err := os.ReadFile(pipe) // until the program has written them
		if err != nil {
			t.Fatal(err)
		}
		return string(arguments)
	}
}

func TestABrowserIsOpenedByAFileThatOnlyTheUserCanRead(t *testing.T) {
	argument := desktop(t)
	api := httptest.NewServer(serving(jobset.InPlaceRestart, nil))
	defer api.Close()
	root := newRoot(genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard})
	root.SetArgs([]string{"dashboard", "train", "--open", "--namespace=research", "--server=" + api.URL})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	file := argument()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatalf("C380: the argument of the browser is %s, and must be a file: %v", file, err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("C380: the mode of the file is %s", info.Mode())
	}
	redirect, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	once := regexp.MustCompile(`url=(http://127\.0\.0\.1:[0-9]+/[A-Z0-9]+/)"`).FindSubmatch(redirect)
	if once == nil {
		t.Fatalf("C380: the file leads to nothing: %s", redirect)
	}
	for _, code := range []int{http.StatusOK, http.StatusNotFound} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, string(once[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != code {
			t.Errorf("C380: the code is %d, want %d", answer.StatusCode, code)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("C380: the file is still there: %v", err)
	}
}

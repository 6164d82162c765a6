/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package manifest reads the YAML files that users are shown, together with
// what their opening comments say for programs:
//
//	# Feature gate: RestartJob        admission takes the file only with this gate on
//	# Patch of: elastic/jobset.yaml   a JSON patch for the JobSet of that file
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// File is one manifest.
type File struct {
	// Path from the root of the repository, with slashes.
	Path string
	// Header is the comment that the file opens with, a line each, without "#".
	Header []string
	// Lines is how long the file is.
	Lines int
	// Gate is the feature gate without which admission refuses the file, if any.
	Gate string
	// PatchOf is the file whose JobSet this one changes; such a file has no Documents.
	PatchOf string
	// Patch is the JSON patch, if PatchOf is set.
	Patch []byte
	// Documents are the objects, as JSON.
	Documents [][]byte
}

var (
	gateLine  = regexp.MustCompile(`[Ff]eature gate:? ([A-Z][A-Za-z]+)`)
	patchLine = regexp.MustCompile(`^Patch of: (\S+)$`)
)

// Walk reads all manifests below some directories of the repository.
func Walk(root string, dirs ...string) ([]File, error) {
	var files []File
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			file, err := read(path, filepath.ToSlash(name))
			if err != nil {
				return fmt.Errorf("reading %s: %w", name, err)
			}
			files = append(files, file)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("walking %s: %w", dir, err)
		}
	}
	return files, nil
}

func read(path, name string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	file := File{Path: name, Lines: bytes.Count(text, []byte("\n"))}
	for line := range strings.Lines(string(text)) {
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !isComment {
			break
		}
		comment = strings.TrimSpace(comment)
		file.Header = append(file.Header, comment)
		if match := gateLine.FindStringSubmatch(comment); match != nil {
			file.Gate = match[1]
		}
		if match := patchLine.FindStringSubmatch(comment); match != nil {
			file.PatchOf = "examples/" + match[1]
		}
	}
	documents, err := split(text)
	if err != nil {
		return File{}, err
	}
	if file.PatchOf != "" {
		if len(documents) != 1 {
			return File{}, fmt.Errorf("a patch is one document, this file has %d", len(documents))
		}
		file.Patch = documents[0]
		return file, nil
	}
	file.Documents = documents
	return file, nil
}

// split returns the documents of a YAML stream as JSON. A duplicate key is an error.
func split(text []byte) ([][]byte, error) {
	var documents [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		asJSON, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, err
		}
		documents = append(documents, asJSON)
	}
}

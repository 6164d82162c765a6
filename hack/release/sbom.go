/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// document is what we use of SPDX 2.3, https://spdx.github.io/spdx-spec/v2.3.
type document struct {
	SPDXVersion   string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	SPDXID        string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	CreationInfo  creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	SPDXID           string      `json:"SPDXID"`
	Name             string      `json:"name"`
	VersionInfo      string      `json:"versionInfo,omitempty"`
	FileName         string      `json:"packageFileName,omitempty"`
	Purpose          string      `json:"primaryPackagePurpose"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	CopyrightText    string      `json:"copyrightText"`
	Checksums        []checksum  `json:"checksums,omitempty"`
	ExternalRefs     []reference `json:"externalRefs,omitempty"`
	Comment          string      `json:"comment,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	documentID  = "SPDXRef-DOCUMENT"
	noAssertion = "NOASSERTION" // unknown
	ourLicence  = "Apache-2.0"
)

// sbom writes which modules the builds of a program contain, by what the linker wrote into them.
func sbom(o options) error {
	builds, modules, err := readBuilds(o.args)
	if err != nil {
		return err
	}
	from, err := findSources()
	if err != nil {
		return err
	}
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: documentID, Name: builds[0].path + " " + o.version,
		CreationInfo: creation{
			Created:  time.Unix(o.time, 0).UTC().Format(time.RFC3339),
			Creators: []string{"Tool: " + builds[0].main + "/hack/release"},
		},
	}
	all := sha256.New()
	for i, b := range builds {
		sum, err := sumOf(b.file)
		if err != nil {
			return err
		}
		_, _ = io.WriteString(all, sum)
		d.addBuild(fmt.Sprintf("SPDXRef-build-%d", i), o.version, sum, b)
	}
	// A name that no other document has, and that the same builds always get.
	d.Namespace = fmt.Sprintf("https://spdx.org/spdxdocs/jobset-%x", all.Sum(nil))
	for _, m := range modules {
		t, err := readTerms(from.directory(m))
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		d.Packages = append(d.Packages, packageOf(m, t))
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return os.WriteFile(o.out, append(text, '\n'), 0o644)
}

// addBuild adds a binary, and that it contains its modules.
func (d *document) addBuild(id, version, sum string, b build) {
	d.Packages = append(d.Packages, spdxPackage{
		SPDXID: id, Name: b.path, VersionInfo: version, FileName: filepath.Base(b.file), Purpose: "APPLICATION",
		DownloadLocation: noAssertion, LicenseConcluded: noAssertion, LicenseDeclared: ourLicence, CopyrightText: noAssertion,
		Checksums: []checksum{{Algorithm: "SHA256", Value: sum}}, Comment: "built for " + b.platform + " with " + b.goVersion,
	})
	d.Relationships = append(d.Relationships, relationship{Element: documentID, Type: "DESCRIBES", Related: id})
	for _, m := range b.modules {
		d.Relationships = append(d.Relationships, relationship{Element: id, Type: "CONTAINS", Related: idOf(m)})
	}
}

func packageOf(m module, t terms) spdxPackage {
	p := spdxPackage{
		SPDXID: idOf(m), Name: m.path, VersionInfo: m.version, Purpose: "LIBRARY", DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: t.expression(), CopyrightText: noAssertion,
		ExternalRefs: []reference{{Category: "PACKAGE-MANAGER", Type: "purl", Locator: "pkg:golang/" + m.path + "@" + strings.ReplaceAll(m.version, "+", "%2B")}},
	}
	if m.sum != "" {
		p.Comment = "go.sum: " + m.sum // a hash of all files, which no algorithm of SPDX is
	}
	return p
}

// idOf returns an identifier: letters, digits, dots and hyphens are allowed, so others are spelled.
func idOf(m module) string {
	var id strings.Builder
	id.WriteString("SPDXRef-module-")
	for _, b := range []byte(m.path + "@" + m.version) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '.':
			id.WriteByte(b)
		case b == '/':
			id.WriteByte('-')
		case b == '-':
			id.WriteString("--")
		default:
			fmt.Fprintf(&id, "-%x-", b)
		}
	}
	return id.String()
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("summing: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("summing %s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

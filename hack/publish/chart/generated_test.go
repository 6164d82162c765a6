/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: jobset-manager-secrets-role
  namespace: jobset-system
  labels: {app.kubernetes.io/name: jobset, extra: "true"}
rules:
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
`

func TestRenderTemplate(t *testing.T) {
	tests := map[string]struct {
		template template
		source   string
		want     string
		wantErr  string
	}{
		"names become expressions, labels those of the chart, and the file says that it is copied": {
			template: template{file: "a.yaml", source: "config/x", objects: []string{"Role jobset-manager-secrets-role"}},
			source:   role,
			want: `{{- /* Made from config/x by ` + "`make update-chart`" + `. DO NOT EDIT. */}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: '{{ include "jobset.named" (list $ "manager-secrets-role") }}'
  namespace: '{{ $.Release.Namespace }}'
  labels:
    {{- include "jobset.labels" $ | nindent 4 }}
    extra: "true"
rules:
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get
`,
		},
		"an object that config/ no longer has is an error": {
			template: template{source: "config/x", objects: []string{"Role gone"}},
			source:   role,
			wantErr:  "config/x has no Role gone",
		},
		"a template of somebody else, as alerts have them, is text": {
			template: template{file: "a.yaml", source: "config/x", objects: []string{"ConfigMap a"}},
			source:   "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: 'since: {{ $value }}', list: ['{{\"{{\"}}']}}",
			want: `{{- /* Made from config/x by ` + "`make update-chart`" + `. DO NOT EDIT. */}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  labels:
    {{- include "jobset.labels" $ | nindent 4 }}
data:
  list:
  - '{{` + "`{{`" + `}}"{{` + "`{{`" + `}}"}}'
  text: 'since: {{` + "`{{`" + `}} $value }}'
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source, err := parse([]byte(tc.source))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tc.template.render(source)
			if tc.wantErr != "" {
				wantError(t, err, tc.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("template (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteUpdatesAndRemoves(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, chartDir, "templates")
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("old.yaml", "{{- /* "+marker+". */}}")
	put("hand.yaml", "written by hand")
	put("changed.yaml", "before")
	files := map[string][]byte{
		chartDir + "/templates/changed.yaml": []byte("after"),
		chartDir + "/templates/new/new.yaml": []byte("new"),
	}

	stale, err := staleFiles(root, files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{chartDir + "/templates/old.yaml"}, stale); diff != "" {
		t.Errorf("stale files (-want +got):\n%s", diff)
	}
	if err := write(root, files, stale); err != nil {
		t.Fatal(err)
	}
	if left := differing(root, files); len(left) > 0 {
		t.Errorf("not as they should be: %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.yaml")); !os.IsNotExist(err) {
		t.Errorf("what is generated no more is still there: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "hand.yaml")); err != nil || !bytes.Equal(text, []byte("written by hand")) {
		t.Errorf("what is written by hand is %q, %v", text, err)
	}
}

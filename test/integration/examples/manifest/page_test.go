/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Page
	}{
		"a page of prose shows nothing": {text: "Use `include`.\n"},
		"a manifest that is included twice is named once": {
			text: "{{< include \"examples/b.yaml\" >}}\n{{<include \"examples/a.yaml\">}}\n{{< include \"examples/b.yaml\" >}}\n",
			want: Page{Includes: []string{"examples/a.yaml", "examples/b.yaml"}},
		},
		"a program that is included is no manifest": {text: "{{< include \"examples/client-go/main.go\" >}}\n"},
		"a fence in a list loses the indentation of the list": {
			text: "1. Write:\n\n   ```yaml\n   a:\n     b: 1\n   ```\n",
			want: Page{Fences: []string{"a:\n  b: 1\n"}},
		},
		"a fence of two objects is two documents": {
			text: "```yaml\na: 1\n---\nb: 1\n```\n",
			want: Page{Fences: []string{"a: 1\n", "b: 1\n"}},
		},
		"a fence of another language is not taken": {
			text: "```bash\nls\n```\n\n```yaml {title=x}\na: 1\n```\n\n```text\nb: 1\n```\n",
			want: Page{Fences: []string{"a: 1\n"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, page("", tc.text)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

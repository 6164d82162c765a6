/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parse makes a source of one file, which begins after the package clause.
func parse(t *testing.T, text string) *source {
	t.Helper()
	src, err := parseSource("api", map[string]string{"types.go": "package api\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n" + text})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// lines drops what indents raw strings of tests.
func lines(text string) string {
	var trimmed []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		trimmed = append(trimmed, strings.TrimSpace(line))
	}
	return strings.Join(trimmed, "\n")
}

func TestTypeSections(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		want   string
	}{
		"a field has its JSON name, its type, whether it is required, and its comment in one line": {
			source: `
				// Root is one.
				type Root struct {
					// theSize is how many
					// there are.
					Size int32 ` + "`json:\"theSize\"`" + `
					// names of them.
					// +optional
					Names []string ` + "`json:\"names\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''theSize'' | int32 | required | How many there are. |
				| ''names'' | list of string | optional | Names of them. |`,
		},
		"markers are rules: defaults, limits and keys": {
			source: `
				// Root is one.
				type Root struct {
					// a is a.
					// +kubebuilder:default=3
					// +kubebuilder:validation:Minimum=0
					// +kubebuilder:validation:Maximum=9
					A *int32 ` + "`json:\"a,omitempty\"`" + `
					// b is b. Immutable.
					// +listType=map
					// +listMapKey=name
					// +kubebuilder:validation:MaxItems=5
					B map[string]bool ` + "`json:\"b,omitempty\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''a'' | int32 | optional; default ''3''; at least ''0''; at most ''9'' | A. |
				| ''b'' | map of string to bool | optional; unique by ''name''; at most ''5'' items; immutable | B. Immutable. |`,
		},
		"a rule of the schema is its message, and that of a field that may not change is its name": {
			source: `
				// Root is one.
				//
				// +kubebuilder:validation:XValidation:rule="self.a == \"x\"",message="a must be x, or y"
				type Root struct {
					// a is a.
					// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
					A string ` + "`json:\"a\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''a'' | string | required; immutable | A. |

				Refused otherwise: ''a must be x, or y''.`,
		},
		"an enumeration has a section with its values, and the field has them as a rule": {
			source: `
				// Root is one.
				type Root struct {
					// mode of it.
					Mode Mode ` + "`json:\"mode\"`" + `
				}

				// Mode is how.
				// +kubebuilder:validation:Enum=Fast;Slow
				type Mode string

				const (
					// Fast: without care.
					Fast Mode = "Fast"
					// ModeSlow takes its time.
					ModeSlow Mode = "Slow"
					other = "Other"
				)`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''mode'' | [Mode](#mode) | required; one of ''Fast'', ''Slow'' | Mode of it. |

				## Mode

				Mode is how.

				| value | meaning |
				|---|---|
				| ''Fast'' | Without care. |
				| ''Slow'' | Takes its time. |`,
		},
		"types of other packages are linked and not shown, and a root's own fields may leave their comment to their type": {
			source: `
				// Root is one.
				//
				// +kubebuilder:object:root=true
				// +kubebuilder:printcolumn:name="Age",JSONPath=".a",description="How old"
				type Root struct {
					metav1.TypeMeta ` + "`json:\",inline\"`" + `
					metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
					Spec Spec ` + "`json:\"spec,omitempty\"`" + `
				}

				// Spec is what is wanted.
				type Spec struct {
					// since when.
					Since *metav1.Time ` + "`json:\"since,omitempty\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''apiVersion'', ''kind'' | string | required | ''group/v1'', ''Root'' |
				| ''metadata'' | [ObjectMeta](https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#ObjectMeta) | optional | As in every object of Kubernetes. |
				| ''spec'' | [Spec](#spec) | optional | What is wanted. |

				''kubectl get'' shows:

				| column | shows | meaning |
				|---|---|---|
				| AGE | ''.a'' | How old |

				## Spec

				Spec is what is wanted.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''since'' | [Time](https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Time) | optional | Since when. |`,
		},
		"what Markdown, HTML and tables would read is escaped": {
			source: `
				// Root is one.
				type Root struct {
					// a matches ^[a-z_]*$ or <name>|x.
					A string ` + "`json:\"a\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''a'' | string | required | Matches ^\[a-z\_\]\*$ or &lt;name&gt;\|x. |`,
		},
		"a default that only code sets is a rule": {
			source: `
				// Root is one.
				type Root struct {
					// b is b.
					Port *int ` + "`json:\"port,omitempty\"`" + `
				}`,
			want: `
				## Root

				Root is one.

				| field | type | rules | meaning |
				|---|---|---|---|
				| ''port'' | int | optional; default ''9443'' | B is b. |`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sections := typeSections{src: parse(t, tc.source), apiVersion: "group/v1", defaults: map[string]string{"Root.Port": "`9443`"}}
			got, err := sections.render("Root")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lines(strings.ReplaceAll(tc.want, "''", "`")), got); diff != "" {
				t.Errorf("render() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTypeSectionsRefuse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, want string }{
		"an exported field without a comment": {
			source: "// Root is one.\ntype Root struct {\n\tA string `json:\"a\"`\n}",
			want:   "api: field A of Root is exported and has no comment; add a comment that says what it means",
		},
		"a type without a comment": {
			source: "type Root struct{}",
			want:   "api: type Root has no comment; add a comment",
		},
		"a value of an enumeration without a comment": {
			source: "// Root is one.\ntype Root string\nconst A Root = \"A\"",
			want:   "api: constant A has no comment; add a comment that says what the value means",
		},
		"an enumeration without values": {
			source: "// Root is one.\ntype Root string",
			want:   "api: type Root has no constants",
		},
		"a marker of the schema that nobody knows": {
			source: "// Root is one.\ntype Root struct {\n\t// a is a.\n\t// +kubebuilder:validation:MultipleOf=2\n\tA int `json:\"a\"`\n}",
			want:   "field A of Root: marker +kubebuilder:validation:MultipleOf is not known; teach it to limits",
		},
		"a rule of the schema without a message": {
			source: "// Root is one.\n// +kubebuilder:validation:XValidation:rule=\"true\"\ntype Root struct{}",
			want:   "type Root: marker XValidation has no message; add message=",
		},
		"a field without a tag": {
			source: "// Root is one.\ntype Root struct {\n\t// a is a.\n\tA string\n}",
			want:   "field A of Root: it has no name for users; add a tag",
		},
		"a type that is not there": {
			source: "// Root is one.\ntype Root struct {\n\t// a is a.\n\tA Gone `json:\"a\"`\n}",
			want:   "field A of Root: type Gone is neither declared in api nor basic",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := typeSections{src: parse(t, tc.source)}.render("Root")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("render() error = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestAbout(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ name, text, want string }{
		"a name and is":               {"qps", "qps is how many.", "How many."},
		"a name and are":              {"rules", "rules are tried in order.", "Tried in order."},
		"a name and another verb":     {"JobKey", "JobKey holds the hash.", "Holds the hash."},
		"a verb before a comma":       {"jobRestarts", "jobRestarts counts, by index, all.", "Counts, by index, all."},
		"a name and a colon":          {"Any", "Any: one of them.", "One of them."},
		"a name and a comma":          {"suspend", "suspend, when true, stops.", "When true, stops."},
		"a name that is part of this": {"name", "name of the rule.", "Name of the rule."},
		"a name that begins a word":   {"rule", "rules are many.", "Rules are many."},
		"another name":                {"b", "Whatever it is.", "Whatever it is."},
		"nothing":                     {"b", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := comment{}
			if tc.text != "" {
				c.paragraphs = []string{tc.text}
			}
			if got := c.about(tc.name); got != tc.want {
				t.Errorf("about(%q) of %q = %q, want %q", tc.name, tc.text, got, tc.want)
			}
		})
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	src := parse(t, `
		const (
			a = "x"
			b = a + "y"
			c, d = 2 * time.Minute, 64 << 10
			e = len("z")
		)`)
	tests := map[string]string{"a": `"x"`, "b": `"xy"`, "c": "120000000000", "d": "65536", "e": "unknown"}
	for name, want := range tests {
		if got := src.constant(name).value.ExactString(); got != want {
			t.Errorf("constant %s = %s, want %s", name, got, want)
		}
	}
	if src.constant("f") != nil {
		t.Error("constant f is found, and is not there")
	}
}

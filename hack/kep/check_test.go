/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// files is a small repository.
var files = map[string]string{
	"Makefile":         "GOFLAGS ?= -x\nall: test\n\t@echo no: target\n.PHONY: test\ntest: ## Run\nfast slow:\ntool-%:\nA := b\n",
	"hack/make/kep.mk": "update-kep:\n\tgo run ./hack/kep\n",
	"bin/built":        "",
	"docs/other.md":    "# Other\n```\n# No\n```\n## A part\n",
	"pkg/a/a.go":       "package a\n\nfunc TestNotInATestFile() {}\n",
	"pkg/a/a_test.go": "package a\n\nfunc TestLift(t *testing.T) { t.Run(\"a row\", nil) }\nfunc FuzzDecide(f *testing.F) {}\n" +
		"func BenchmarkPass(b *testing.B) {}\nfunc (s suite) TestMethod() {}\n",
	"test/stories/stories.go": "package stories\n\nvar _ = Describe(\"A group restart\", func() {\n" +
		"\tIt(\"P13: lifts \" + \"when all are back\", nil)\n\tPIt(\"is still to be written\", nil)\n\tEntry(fmt.Sprintf(\"%d workers\", 2), 2)\n" +
		"\tginkgo.It(\"has a prefix\", nil)\n\tfail(\"is no name\")\n})\n",
	"docs/no-go/readme.md": "",
	"broken/a_test.go":     "package",
}

// page1 is a proposal around a test plan, with a table of contents that is up to date.
func page1(plan, rest string) string {
	return "# T\n\n<!-- toc -->\n- [Design](#design)\n  - [Test Plan](#test-plan)\n- [Rest](#rest)\n<!-- /toc -->\n\n" +
		"## Design\n\n### Test Plan\n\n" + plan + "\n## Rest\n\n" + rest + "\n"
}

const goodPlan = "- `pkg/a`: `TestLift`\n"

func problemsOf(t *testing.T, text string) []string {
	t.Helper()
	tree := fstest.MapFS{"keps/1/README.md": {Data: []byte(text)}}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	problems, err := checkAll(tree, []string{"keps/1/README.md"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range problems {
		problems[i] = strings.TrimPrefix(problems[i], "keps/1/README.md:")
	}
	return problems
}

// expect compares the beginnings of problems, since their ends say how to mend them.
func expect(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %q, want %q", got[i], want[i])
		}
		if !strings.Contains(got[i], "; ") {
			t.Errorf("problem %q does not say how to mend it", got[i])
		}
	}
}

func TestThePlan(t *testing.T) {
	tests := map[string]struct {
		plan string
		want []string
	}{
		"functions of every kind": {plan: "- `pkg/a`: `TestLift`, `FuzzDecide` and `BenchmarkPass`, of which `other` words tell\n"},
		"texts of ginkgo, whole, in part, added up, and formats, in files that are no tests": {
			plan: "- `test/stories`: `\"A group restart\"`, `\"lifts when all\"`, `\"%d workers\"`, `\"has a prefix\"`\n",
		},
		"a text that goes on in the next line":       {plan: "- `test/stories`: shows `\"P13: lifts when\n  all are back\"`\n"},
		"an item that goes on in the next line":      {plan: "- `pkg/a`: this and\n  that, `TestLift`\n"},
		"items below the item of their package":      {plan: "- `pkg/a`:\n  - `TestLift`: this\n  - `FuzzDecide`: that\n"},
		"headings and prose between":                 {plan: "#### Unit tests\n\nSome `words`.\n\n" + goodPlan},
		"a function that is not there":               {plan: "- `pkg/a`: `TestLift`, `TestGone`\n", want: []string{"13: pkg/a has no function TestGone"}},
		"a function outside of test files":           {plan: "- `pkg/a`: `TestNotInATestFile`\n", want: []string{"13: pkg/a has no function TestNotInATestFile"}},
		"a method":                                   {plan: "- `pkg/a`: `TestMethod`\n", want: []string{"13: pkg/a has no function TestMethod"}},
		"a text that is not there":                   {plan: "- `test/stories`: `\"A group stops\"`\n", want: []string{`13: no test of test/stories is called "A group stops"`}},
		"a text that is pending":                     {plan: "- `test/stories`: `\"is still to be written\"`\n", want: []string{`13: no test of test/stories is called "is still`}},
		"a text of another function":                 {plan: "- `test/stories`: `\"is no name\"`\n", want: []string{`13: no test of test/stories is called "is no name"`}},
		"an empty text":                              {plan: "- `test/stories`: `\"\"`\n", want: []string{`13: no test of test/stories is called ""`}},
		"a package that is not there":                {plan: "- `pkg/b`: `TestLift`\n", want: []string{"13: there is no package pkg/b", "13: there is no pkg/b in the repository"}},
		"a directory without Go files":               {plan: "- `docs/no-go`: `TestLift`\n", want: []string{"13: there is no package docs/no-go"}},
		"a path out of the repository":               {plan: "- `../a`: `TestLift`\n", want: []string{"13: ../a is no path of the repository"}},
		"a package that cannot be parsed":            {plan: "- `broken`: `TestLift`\n", want: []string{"13: reading tests: broken/a_test.go:1:8"}},
		"a test without its package":                 {plan: goodPlan + "\nAlso `FuzzDecide`.\n", want: []string{"15: nobody knows in which package FuzzDecide is"}},
		"a test in an item without a package":        {plan: goodPlan + "- other: `FuzzDecide`\n", want: []string{"14: nobody knows in which package FuzzDecide is"}},
		"a test after prose that ended the list":     {plan: goodPlan + "\nThen:\n\n  - `FuzzDecide`\n", want: []string{"17: nobody knows in which package FuzzDecide is"}},
		"an item that names no test":                 {plan: goodPlan + "- `test/stories`: all of it\n", want: []string{"14: the item of test/stories names no test"}},
		"an item whose items name no test":           {plan: goodPlan + "- `test/stories`:\n  - all of it\n", want: []string{"14: the item of test/stories names no test"}},
		"a plan without tests":                       {plan: "Later.\n", want: []string{"11: the test plan names no test"}},
		"tests in a code fence only, which are none": {plan: "```\n" + goodPlan + "```\n", want: []string{"11: the test plan names no test"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := page1(tc.plan, "")
			if strings.Contains(tc.plan, "####") {
				text = strings.Replace(text, "- [Rest]", "    - [Unit tests](#unit-tests)\n- [Rest]", 1)
			}
			expect(t, tc.want, problemsOf(t, text))
		})
	}
	t.Run("a page without a plan", func(t *testing.T) {
		text := strings.NewReplacer("### Test Plan", "### Plan", "[Test Plan](#test-plan)", "[Plan](#plan)").Replace(page1(goodPlan, ""))
		expect(t, []string{`1: there is no heading "### Test Plan"`}, problemsOf(t, text))
	})
	t.Run("tests of the next section only", func(t *testing.T) {
		expect(t, []string{"11: the test plan names no test"}, problemsOf(t, page1("", goodPlan)))
	})
}

func TestReferences(t *testing.T) {
	tests := map[string]struct {
		rest string
		want []string
	}{
		"targets of all makefiles":              {rest: "`make test`, `make -k fast slow`, `make update-kep`, `make tool-x`, `make test A=1` and `make`"},
		"a target that is not there":            {rest: "`make tests`", want: []string{"17: there is no target tests"}},
		"one of several targets":                {rest: "`make test all2`", want: []string{"17: there is no target all2"}},
		"a variable that is no target":          {rest: "`make GOFLAGS` `make A`", want: []string{"17: there is no target GOFLAGS", "17: there is no target A"}},
		"a recipe that looks like a target":     {rest: "`make no`", want: []string{"17: there is no target no"}},
		"a pattern that stands for a name":      {rest: "`make tool-`", want: []string{"17: there is no target tool-"}},
		"what stands in a code fence":           {rest: "```\n`make no` [a](no.md) `pkg/no`\n```"},
		"prose without backticks":               {rest: "make no sense, pkg/no"},
		"paths, patterns and commands":          {rest: "`pkg/a/a.go` `pkg/a/` `pkg/*/a*.go` `go run ./hack/make --check` `go test ./pkg/a/...` `docs/other.md,`"},
		"what is no path of the repository":     {rest: "`k8s.io/api` `spec/status` `a/b`"},
		"what is built":                         {rest: "`bin/report.md`"},
		"a path that is not there":              {rest: "`pkg/a/b.go`", want: []string{"17: there is no pkg/a/b.go"}},
		"a path of a command":                   {rest: "`wc -l ./pkg/no`", want: []string{"17: there is no pkg/no"}},
		"a pattern that matches nothing":        {rest: "`pkg/a/*.md`", want: []string{"17: there is no pkg/a/*.md"}},
		"a path that leaves the repository":     {rest: "`pkg/../../x`", want: []string{"17: there is no pkg/../../x"}},
		"links to files, headings and the net":  {rest: "[a](../../docs/other.md) [b](../../docs/other.md#a-part) [c](#design) [d](https://x.y/z) [e](../../pkg/a/)"},
		"a link in backticks, which is none":    {rest: "`[a](no.md)`"},
		"a link to no file":                     {rest: "[a](other.md)", want: []string{"17: the link other.md leads nowhere"}},
		"a link from the root":                  {rest: "[a](/docs/other.md)", want: []string{"17: the link /docs/other.md leads nowhere"}},
		"a link to no heading of the page":      {rest: "[a](#gone)", want: []string{"17: the link #gone leads to no heading"}},
		"a link to no heading of another page":  {rest: "[a](../../docs/other.md#no)", want: []string{"17: the link ../../docs/other.md#no leads to no heading"}},
		"a link with a title, and two in a row": {rest: "[a](x.md \"t\") [b](y.md)", want: []string{"17: the link x.md", "17: the link y.md"}},
		"a link out of the repository":          {rest: "[a](../../../x.md)", want: []string{"17: the link ../../../x.md leads nowhere"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, tc.want, problemsOf(t, page1(goodPlan, tc.rest)))
		})
	}
}

func TestTheContentsAreUpToDate(t *testing.T) {
	good := page1(goodPlan, "")
	tests := map[string]struct {
		text string
		want []string
	}{
		"up to date":                    {text: good},
		"a heading that is not listed":  {text: good + "### New\n", want: []string{"7: the table of contents is not up to date"}},
		"an entry without a heading":    {text: strings.Replace(good, "- [Rest]", "- [Gone](#gone)\n- [Rest]", 1), want: []string{"6: the table of contents is not up to date", "6: the link #gone leads to no heading"}},
		"a page without a place for it": {text: strings.Replace(good, contentsEnd, "", 1), want: []string{"1: there is no place for the table of contents"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, tc.want, problemsOf(t, tc.text))
		})
	}
}

func TestRun(t *testing.T) {
	stale := strings.Replace(page1(goodPlan, ""), "- [Rest](#rest)\n", "", 1)
	tests := map[string]struct {
		page     string
		args     []string
		wantCode int
		wantOut  string
		wantErr  string
		wantPage string
	}{
		"a check that finds nothing prints nothing": {page: page1(goodPlan, ""), args: []string{"--check"}},
		"a check that finds something fails with it": {
			page: stale, args: []string{"--check"}, wantCode: 1,
			wantOut: "keps/1/README.md:6: the table of contents is not up to date; mend with: make update-kep\n", wantPage: stale,
		},
		"to write mends the table of contents": {
			page: stale, args: []string{"--write"}, wantOut: "wrote the table of contents of keps/1/README.md\n", wantPage: page1(goodPlan, ""),
		},
		"to write what is written changes nothing":    {page: page1(goodPlan, ""), args: []string{"--write"}, wantPage: page1(goodPlan, "")},
		"to write where there is no place is refused": {page: "# T\n", args: []string{"--write"}, wantCode: 2, wantErr: "there is no place"},
		"neither to write nor to check is refused":    {page: "# T\n", wantCode: 2, wantErr: "want either --write or --check"},
		"both are refused":                            {page: "# T\n", args: []string{"--write", "--check"}, wantCode: 2, wantErr: "want either"},
		"an argument is refused":                      {page: "# T\n", args: []string{"--check", "x"}, wantCode: 2, wantErr: "no arguments"},
		"a directory without proposals is no pass":    {page: "", args: []string{"--check"}, wantCode: 2, wantErr: "there is no keps/*/README.md"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put := func(name, text string) {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range files {
				put(name, text)
			}
			if tc.page != "" {
				put("keps/1/README.md", tc.page)
			}
			var out, errs bytes.Buffer
			if code := run(append([]string{"--root", root}, tc.args...), &out, &errs); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; %s%s", code, tc.wantCode, out.String(), errs.String())
			}
			if diff := cmp.Diff(tc.wantOut, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if !strings.Contains(errs.String(), tc.wantErr) || (tc.wantErr == "") != (errs.Len() == 0) {
				t.Errorf("errors %q, want %q", errs.String(), tc.wantErr)
			}
			if tc.wantPage == "" {
				return
			}
			got, err := os.ReadFile(filepath.Join(root, "keps/1/README.md"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantPage, string(got)); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

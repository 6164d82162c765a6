/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package reference holds the tests that the site's reference names what the code has, and
// nothing else.
package reference

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrlzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/features"
	_ "sigs.k8s.io/jobset/pkg/metrics"
)

const (
	repository = "../.."
	pages      = repository + "/site/content/en/docs/reference/"
)

func TestTheReferenceNamesWhatTheCodeHas(t *testing.T) {
	constants := map[string]string{}
	for _, dir := range []string{"api/jobset/v1alpha2", "pkg/constants", "pkg/placement", "agent", "supervisor/protocol"} {
		maps.Copy(constants, constantsOf(t, dir))
	}
	named := func(pattern string) []string {
		var values []string
		for name, value := range constants {
			if regexp.MustCompile(pattern).MatchString(name) {
				values = append(values, value)
			}
		}
		return values
	}
	tests := map[string]struct {
		pages  []string
		column string
		want   []string
	}{
		"labels, annotations and taints": {
			[]string{"labels-and-annotations.md"}, "key", append(keysOf(constants),
				"batch.kubernetes.io/job-completion-index", "batch.kubernetes.io/job-tracking"), // of Kubernetes
		},
		"conditions":                   {[]string{"conditions.md"}, "condition", conditionsOf(t)},
		"reasons":                      {[]string{"conditions.md", "events.md"}, "reason", append(named(`Reason$|ReasonPrefix$`), actionReasonsOf(t)...)},
		"metrics":                      {[]string{"metrics.md"}, "metric", metricsOf(t)},
		"feature gates":                {[]string{"configuration.md"}, "gate", gatesOf()},
		"flags of the manager":         {[]string{"configuration.md"}, "flag", flagsOf(t)},
		"environment of the agent":     {[]string{"agent.md"}, "variable", named(`^env[A-Z]|^(WorkerContainers|AgentDir|StopGrace)Env$`)},
		"columns that kubectl get has": {[]string{"api.md"}, "column", columnsOf(t)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, page := range tc.pages {
				got = append(got, namesIn(t, page, tc.column)...)
			}
			if len(tc.want) == 0 {
				t.Fatal("the code has none, which cannot be")
			}
			if diff := cmp.Diff(sorted(tc.want), sorted(got)); diff != "" {
				t.Errorf("column %q of the tables in %v (-code +page):\n%s", tc.column, tc.pages, diff)
			}
		})
	}
}

func TestTheReferenceHasTheDefaultsOfFeatureGates(t *testing.T) {
	page, err := os.ReadFile(pages + "configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for gate, spec := range features.New().GetAll() {
		if isGroup(string(gate)) {
			continue
		}
		stage, locked := strings.ToLower(string(spec.PreRelease)), ""
		if stage == "" {
			stage = "GA"
		}
		if spec.LockToDefault {
			locked = ", locked"
		}
		row := "| `" + string(gate) + "` | " + stage + " | `" + strconv.FormatBool(spec.Default) + "`" + locked + " |"
		if !strings.Contains(string(page), row) {
			t.Errorf("configuration.md has no row that begins with %s", row)
		}
	}
}

// namesIn returns what stands in backquotes in a column of the tables of a page.
func namesIn(t *testing.T, page, column string) []string {
	t.Helper()
	text, err := os.ReadFile(pages + page)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	at := -1
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case len(cells) < 3:
			at = -1 // between tables
		case at < 0:
			at = slices.IndexFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == column })
			if at < 0 {
				at = len(cells) // another table
			}
		case at < len(cells) && !strings.HasPrefix(line, "|---"):
			name := strings.Trim(strings.TrimSpace(cells[at]), "`")
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(name, "--"), "<rule>"))
		}
	}
	return names
}

func sorted(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// constantsOf returns the constants of a package that are strings, by name.
func constantsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	constants := map[string]string{}
	inspect(t, dir, func(node ast.Node) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return
		}
		for i, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				constants[spec.Names[i].Name] = text
			}
		}
	})
	return constants
}

// inspect walks the files of a package that are no tests.
func inspect(t *testing.T, dir string, visit func(ast.Node)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no Go files (%v)", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			visit(node)
			return true
		})
	}
}

func keysOf(constants map[string]string) []string {
	var keys []string
	for name, value := range constants {
		if strings.Contains(value, "jobset.sigs.k8s.io/") && !strings.Contains(value, " ") && name != "JobSetControllerName" { // not those that messages name
			keys = append(keys, value)
		}
	}
	return keys
}

func conditionsOf(t *testing.T) []string { return constantsOfType(t, "JobSetConditionType") }

func actionReasonsOf(t *testing.T) (reasons []string) {
	t.Helper()
	for _, action := range constantsOfType(t, "FailurePolicyAction") {
		reasons = append(reasons, constants.ActionReason(action))
	}
	return reasons
}

// constantsOfType returns the values of the API that have a type.
func constantsOfType(t *testing.T, name string) []string {
	t.Helper()
	var values []string
	inspect(t, "api/jobset/v1alpha2", func(node ast.Node) {
		if spec, ok := node.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == name {
				values = append(values, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
	})
	return values
}

func metricsOf(t *testing.T) []string {
	t.Helper()
	described := make(chan *prometheus.Desc)
	go func() {
		ctrlmetrics.Registry.(prometheus.Collector).Describe(described)
		close(described)
	}()
	var names []string
	for desc := range described {
		if match := regexp.MustCompile(`fqName: "(jobset_\w+)"`).FindStringSubmatch(desc.String()); match != nil {
			names = append(names, match[1])
		}
	}
	return names
}

func isGroup(gate string) bool { return gate == "AllAlpha" || gate == "AllBeta" }

func gatesOf() []string {
	var gates []string
	for gate := range features.New().GetAll() {
		if !isGroup(string(gate)) {
			gates = append(gates, string(gate))
		}
	}
	return gates
}

// flagsOf returns the flags that cmd/manager declares, and those of its logger.
func flagsOf(t *testing.T) []string {
	t.Helper()
	constants := constantsOf(t, "cmd/manager")
	var flags []string
	inspect(t, "cmd/manager", func(node ast.Node) {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) < 3 {
			return
		}
		function, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		if set, ok := function.X.(*ast.Ident); !ok || set.Name != "fs" {
			return
		}
		at := 0 // as in fs.String
		if strings.HasSuffix(function.Sel.Name, "Var") {
			at = 1
		}
		switch name := call.Args[at].(type) {
		case *ast.BasicLit:
			flags = append(flags, strings.Trim(name.Value, `"`))
		case *ast.Ident:
			flags = append(flags, constants[name.Name])
		}
	})
	logger := flag.NewFlagSet("", flag.ContinueOnError)
	new(ctrlzap.Options).BindFlags(logger)
	logger.VisitAll(func(f *flag.Flag) { flags = append(flags, f.Name) })
	return flags
}

func columnsOf(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(repository + "/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, strings.ToUpper(column.Name))
	}
	return columns
}

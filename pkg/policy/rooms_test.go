/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// rooms are what this package can be divided into, lowest first, with their files. A room asks itself and those before it.
var rooms = []struct{ name, files string }{
	{"view", "view input plan writes reports result conditions group observe jobset slots members named completed_indexes round_success " +
		"failure taken attempts replacement preparation planned_sizes causes history"},
	{"jobs", "jobs room restart_job failure_policy success_policy startup finished volume_claims deleted_job budget avoid_nodes"},
	{"elastic", "elastic elastic_size"},
	{"access", "agent_access agent_grant agent_policy agent_policy_shipped grant_access"},
	{"group", "in_place_restart intent bypass confirm first_cause pending_success quick_failures assembly stop_grace sandbox suspects no_progress " +
		"ledger warm_starts worker_exit disruption readiness lost_nodes active_deadline"},
	{"tolerance", "tolerance unhealthy unscheduled overdue deployed executions blocked sick_nodes queue outdated give_up_nodes"},
	{"policy", "decide intent_first look compose trace doc"},
}

func TestNoArrowBetweenTheRoomsRunsBackUp(t *testing.T) {
	t.Parallel()
	floors := map[string]int{}
	for floor, room := range rooms {
		for _, file := range strings.Fields(room.files) {
			floors[file+".go"] = floor
		}
	}
	set, files := token.NewFileSet(), []*ast.File{}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if _, known := floors[path]; !known {
			t.Errorf("%s has no room", path)
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}} // what other packages declare does not matter
	pkg, _ := config.Check("policy", set, files, &info)
	up := sets.New[string]()
	asked := 0
	for name, object := range info.Uses {
		_, isFunction := object.(*types.Func) // or a method
		if object.Pkg() != pkg || !isFunction && object.Parent() != pkg.Scope() {
			continue
		}
		from, to := floors[set.Position(name.Pos()).Filename], floors[set.Position(object.Pos()).Filename]
		if asked++; from < to {
			up.Insert(rooms[from].name + " asks " + rooms[to].name + ": " + object.Name())
		}
	}
	if asked < 1000 {
		t.Fatalf("only %d references are known: the types of this package are not", asked)
	}
	for _, arrow := range sets.List(up) {
		t.Errorf("%s, which is after it: move that to the lower room, or hand its answer over", arrow)
	}
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) { return nil, errors.New("not needed") }

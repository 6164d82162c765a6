/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// keyUse says of a key what its comment does not: what it is, on which objects, and who sets it.
// Keys of the same group stand in one table of the page.
type keyUse struct {
	group, kind, on, by string
}

const (
	byController = "the controller"
	byWebhook    = "the webhook of Pods"
)

var child = keyUse{"children", "label and annotation", "Jobs, Pods", byController}

// keyUses has every key of the code, by the name of its constant.
var keyUses = map[string]keyUse{
	"JobSetNameKey":         child,
	"JobSetUIDKey":          child,
	"ReplicatedJobNameKey":  child,
	"ReplicatedJobReplicas": child,
	"GlobalReplicasKey":     child,
	"JobIndexKey":           child,
	"JobGlobalIndexKey":     child,
	"JobKey":                child,
	"GroupNameKey":          child,
	"GroupReplicasKey":      child,
	"JobGroupIndexKey":      child,
	"CoordinatorKey":        {"children", "label and annotation", "Jobs, Pods", "the controller, if the JobSet has a coordinator"},
	"RestartsKey":           child,
	"JobRestartAttemptKey":  {"children", "label and annotation", "Jobs, Pods", "the controller, with gate `RestartJob` or after such a restart"},

	"ExclusiveKey":             {"users", "annotation", "JobSet, or Job template", "the user; the controller copies it to Jobs and Pods"},
	"NodeSelectorStrategyKey":  {"users", "annotation", "JobSet, or Job template", "the user; the controller copies it to Jobs and Pods"},
	"DisableInPlaceRestartKey": {"users", "annotation", "JobSet", "the user"},

	"EpochKey":           {"others", "annotation", "Pods", "the agent of the Pod"},
	"NamespacedJobKey":   {"others", "label", "Nodes", "the administrator; the controller selects by it"},
	"NoScheduleTaintKey": {"others", "taint", "Nodes", "the administrator; the controller tolerates it"},
	"PriorityKey":        {"others", "label", "Pods of exclusive Jobs", byWebhook},
}

// notKeys are constants that look like keys and are none.
var notKeys = map[string]bool{"JobSetControllerName": true}

// keyDirs are the packages whose keys are on the page.
var keyDirs = []string{apiDir, constantsDir, "pkg/placement"}

func labelsPage(root string) (map[string]string, error) {
	var sources []*source
	for _, dir := range keyDirs {
		src, err := readSource(root, dir)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	return keyTables(sources, keyUses)
}

// keyTables are the tables of keys, by their group.
func keyTables(sources []*source, uses map[string]keyUse) (map[string]string, error) {
	groups, found := map[string]*table{}, map[string]bool{}
	for _, src := range sources {
		for _, c := range src.consts {
			if !isKey(c) {
				continue
			}
			use, known := uses[c.name]
			switch {
			case !known:
				return nil, fmt.Errorf("%s: nothing is known about the key %s; add %s to keyUses in hack/reference/labels.go", src.dir, c.text(), c.name)
			case c.comment.text() == "":
				return nil, fmt.Errorf("%s: constant %s has no comment; add a comment that says what the key holds", src.dir, c.name)
			}
			found[c.name] = true
			if groups[use.group] == nil {
				groups[use.group] = &table{head: []string{"key", "what", "on", "set by", "meaning"}}
			}
			groups[use.group].add(code(c.text()), use.kind, use.on, use.by, escape(withKeys(c.comment.about(c.name), sources)))
		}
	}
	for _, name := range sortedKeys(uses) {
		if !found[name] {
			return nil, fmt.Errorf("keyUses in hack/reference/labels.go has %s, which the code has not; remove it", name)
		}
	}
	rendered := map[string]string{}
	for group, keys := range groups {
		rendered[group] = keys.String()
	}
	return rendered, nil
}

// goName is a word that may be the name of a constant.
var goName = regexp.MustCompile(`[A-Z][A-Za-z]+`)

// withKeys puts keys in the place of the names that they have in Go.
func withKeys(text string, sources []*source) string {
	return goName.ReplaceAllStringFunc(text, func(word string) string {
		for _, src := range sources {
			if c := src.constant(word); c != nil && isKey(c) {
				return c.text()
			}
		}
		return word
	})
}

func isKey(c *constDecl) bool {
	return strings.Contains(c.text(), "jobset.sigs.k8s.io/") && !notKeys[c.name]
}

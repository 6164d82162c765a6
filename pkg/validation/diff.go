/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// differences returns the paths at which two values of one API type differ semantically:
// nil and empty lists are equal, quantities compare by value. Paths are as deep as
// possible: to a field, or to a list whose length differs.
func differences(path *field.Path, old, new any) []string {
	return diff(path, reflect.ValueOf(old), reflect.ValueOf(new))
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func diff(path *field.Path, old, new reflect.Value) []string {
	if apiequality.Semantic.DeepEqual(old.Interface(), new.Interface()) {
		return nil
	}
	here := []string{path.String()}
	var deeper []string
	switch old.Kind() {
	case reflect.Pointer:
		if old.IsNil() || new.IsNil() {
			return here
		}
		return diff(path, old.Elem(), new.Elem())
	case reflect.Struct:
		// Types with their own JSON encoding (quantities, times) have fields that users do not see.
		if !reflect.PointerTo(old.Type()).Implements(marshaler) {
			deeper = diffFields(path, old, new)
		}
	case reflect.Slice:
		if old.Len() == new.Len() && old.Type().Elem().Kind() != reflect.Uint8 {
			for i := range old.Len() {
				deeper = append(deeper, diff(path.Index(i), old.Index(i), new.Index(i))...)
			}
		}
	case reflect.Map:
		deeper = diffKeys(path, old, new)
	}
	if len(deeper) == 0 {
		return here
	}
	return deeper
}

func diffFields(path *field.Path, old, new reflect.Value) []string {
	var out []string
	for i := range old.NumField() {
		f := old.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := path
		if name != "" { // an embedded struct adds nothing to the path
			at = path.Child(name)
		}
		out = append(out, diff(at, old.Field(i), new.Field(i))...)
	}
	return out
}

// diffKeys handles maps with string keys, the only ones in the API.
func diffKeys(path *field.Path, old, new reflect.Value) []string {
	if old.Type().Key().Kind() != reflect.String {
		return nil
	}
	var out []string
	for i, k := range append(old.MapKeys(), new.MapKeys()...) {
		was, is := old.MapIndex(k), new.MapIndex(k)
		if !was.IsValid() || !is.IsValid() {
			out = append(out, path.Key(k.String()).String())
		} else if i < old.Len() { // not again by the new keys
			out = append(out, diff(path.Key(k.String()), was, is)...)
		}
	}
	slices.Sort(out)
	return out
}

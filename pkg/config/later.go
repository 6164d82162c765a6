/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/version"
)

// Later reports whether a configuration is for a later minor release than this manager, which was rolled back.
func Later(cfg *configapi.Configuration) bool {
	of, err := utilversion.ParseGeneric(cfg.Release)
	return err == nil && utilversion.MustParseGeneric(version.Release).LessThan(utilversion.MajorMinor(of.Major(), of.Minor()))
}

// decodeLater decodes a file of a later release without the keys that only that release knows, and returns those. Without this a
// manager that is rolled back, and not its ConfigMap, would not start. Refused is why Decode refused the file. It stays the answer
// if the file is for this release, and if it is about anything but unknown keys, or about a key in tls: to ignore one would weaken
// what was asked for.
func decodeLater(data []byte, refused error) (*configapi.Configuration, []string, error) {
	strict, ok := runtime.AsStrictDecodingError(errors.Unwrap(refused))
	if !ok {
		return nil, nil, refused
	}
	cfg, err := decode(lenient, data)
	if err != nil || !Later(cfg) {
		return nil, nil, refused
	}
	var ignored []string
	for _, err := range strict.Errors() {
		key, unknown := strings.CutPrefix(err.Error(), "unknown field ")
		if !unknown || strings.HasPrefix(key, `"tls.`) {
			return nil, nil, refused
		}
		ignored = append(ignored, strings.Trim(key, `"`))
	}
	return cfg, ignored, nil
}

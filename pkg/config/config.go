/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config reads, checks and writes the configuration of the manager.
package config

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// Strict: an unknown key is most likely a typing error. Lenient is for files of a later release.
var codecs, lenient = newCodecs(serializer.EnableStrict), newCodecs()

func newCodecs(options ...serializer.CodecFactoryOptionsMutator) serializer.CodecFactory {
	scheme := runtime.NewScheme()
	utilruntime.Must(configapi.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme, options...)
}

// Load reads the file at path and fills in the defaults. An empty path means the defaults.
// The result may be invalid: flags are applied next, and then Validate checks it. Ignored are
// the keys of a later release that were left out.
func Load(path string) (cfg *configapi.Configuration, ignored []string, err error) {
	if path == "" {
		cfg := &configapi.Configuration{}
		configapi.SetDefaults_Configuration(cfg)
		return cfg, nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	cfg, err = Decode(data)
	if err != nil {
		cfg, ignored, err = decodeLater(data, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return cfg, ignored, nil
}

// Decode reads YAML or JSON and fills in the defaults. Unknown and duplicate keys are errors.
func Decode(data []byte) (*configapi.Configuration, error) { return decode(codecs, data) }

func decode(codecs serializer.CodecFactory, data []byte) (*configapi.Configuration, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	cfg := &configapi.Configuration{}
	if err := runtime.DecodeInto(codecs.UniversalDecoder(configapi.GroupVersion), document, cfg); err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	return cfg, nil
}

// onlyDocument returns the only YAML document that is not empty. The decoder would read the
// first document and silently ignore the others.
func onlyDocument(data []byte) ([]byte, error) {
	var only []byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return only, nil
		}
		if err != nil {
			return nil, fmt.Errorf("splitting into documents: %w", err)
		}
		var content any
		if err := yaml.Unmarshal(document, &content); err == nil && content == nil {
			continue // empty, or only comments
		}
		if only != nil {
			return nil, errors.New("there must be one document, found several")
		}
		only = document
	}
}

// Encode writes a configuration as YAML that Decode reads.
func Encode(cfg *configapi.Configuration) ([]byte, error) {
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	if !ok {
		return nil, fmt.Errorf("no serializer for %s", runtime.ContentTypeYAML)
	}
	data, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, configapi.GroupVersion), cfg)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration: %w", err)
	}
	return data, nil
}

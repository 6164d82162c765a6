/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/features"
)

const configHead = "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n"

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(configHead+content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func defaultsBut(change func(*configapi.Configuration)) *configapi.Configuration {
	cfg := &configapi.Configuration{}
	configapi.SetDefaults_Configuration(cfg)
	change(cfg)
	return cfg
}

func TestFlagsOverConfigurationOverDefaults(t *testing.T) {
	const everything = `
metrics: {bindAddress: ":1"}
health: {healthProbeBindAddress: ":2"}
leaderElection: {leaderElect: true}
clientConnection: {qps: 3, burst: 4}
featureGates: {InPlaceRestart: true, AllBeta: false}
`
	tests := map[string]struct {
		file string // empty means no --config
		args []string
		want func(*configapi.Configuration)
		// ignored are keys and gates of a later release.
		ignored []string
	}{
		"neither file nor flags: the defaults, with leader election (O13)": {
			want: func(*configapi.Configuration) {},
		},
		"the file wins over the defaults, also over those of flags (O13)": {
			file: everything,
			want: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = ":1", ":2"
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](3), ptr.To[int32](4)
				cfg.FeatureGates = map[string]bool{"InPlaceRestart": true, "AllBeta": false}
			},
		},
		"typed flags win over the file (O5-O9, O13, C9)": {
			file: everything,
			args: []string{"--metrics-bind-address=:5", "-health-probe-bind-address", ":6", "--leader-elect=false",
				"--kube-api-qps=7.5", "--kube-api-burst=8"},
			want: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = ":5", ":6"
				cfg.LeaderElection.LeaderElect = ptr.To(false)
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](7.5), ptr.To[int32](8)
				cfg.FeatureGates = map[string]bool{"InPlaceRestart": true, "AllBeta": false}
			},
		},
		"a flag typed with its own default wins too (O13)": {
			file: everything,
			args: []string{"--metrics-bind-address=:8443", "--kube-api-qps=500"},
			want: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = ":8443", ":2"
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](500), ptr.To[int32](4)
				cfg.FeatureGates = map[string]bool{"InPlaceRestart": true, "AllBeta": false}
			},
		},
		"flags win over defaults when there is no file (O13)": {
			args: []string{"--leader-elect=false", "--metrics-bind-address=0"},
			want: func(cfg *configapi.Configuration) {
				cfg.LeaderElection.LeaderElect = ptr.To(false)
				cfg.Metrics.BindAddress = "0"
			},
		},
		"each gate of the flag wins over its entry, other entries stay (O12, O13, O486, C32)": {
			file: everything,
			args: []string{"--feature-gates=InPlaceRestart=false,AllAlpha=false"},
			want: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = ":1", ":2"
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](3), ptr.To[int32](4)
				cfg.FeatureGates = map[string]bool{"InPlaceRestart": false, "AllAlpha": false, "AllBeta": false}
			},
		},
		"a flag fixes what is wrong in the file (O13)": {
			file: "metrics: {bindAddress: x}\n",
			args: []string{"--metrics-bind-address=:5"},
			want: func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = ":5" },
		},
		"after a rollback keys and gates of a later release are ignored (O14, O41)": {
			file: "release: v0.14\nworkflows: {enable: true}\nfeatureGates: {InPlaceRestart: true, Workflows: true, Later: false}\n",
			want: func(cfg *configapi.Configuration) {
				cfg.Release, cfg.FeatureGates = "v0.14", map[string]bool{"InPlaceRestart": true}
			},
			ignored: []string{"workflows", "featureGates.Later", "featureGates.Workflows"},
		},
		"gates of the flag need no file (O12, O486, C32)": {
			args: []string{"--feature-gates", "InPlaceRestart=true"},
			want: func(cfg *configapi.Configuration) { cfg.FeatureGates = map[string]bool{"InPlaceRestart": true} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := tc.args
			if tc.file != "" {
				args = append(args, "--config="+writeConfig(t, tc.file))
			}
			opts, err := parseOptions(args, &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			got, ignored, err := opts.configuration()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.ignored, ignored); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
			if err := apply(got, features.New()); err != nil {
				t.Fatal(err)
			}
			got.TypeMeta = configapi.Configuration{}.TypeMeta
			if diff := cmp.Diff(defaultsBut(tc.want), got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsThatAreNotConfiguration(t *testing.T) {
	opts, err := parseOptions([]string{"--kubeconfig=/kube", "--zap-devel=false", "--version"}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if opts.kubeconfig != "/kube" || opts.zap.Development || !opts.version || len(opts.overrides) != 0 {
		t.Errorf("options = %+v, want the typed values and no overrides (O10, O11)", opts)
	}
	opts, err = parseOptions(nil, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if !opts.zap.Development {
		t.Error("zap-devel defaults to false, want true (O11)")
	}
}

func TestStartFails(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	cluster := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(cluster, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file string
		args []string
		want []string
	}{
		"an unknown flag (O15)":                 {args: []string{"--colour=red"}, want: []string{"colour"}},
		"an argument that is no flag (O15)":     {args: []string{"controller"}, want: []string{"unexpected arguments: controller"}},
		"a gate without a value (O15)":          {args: []string{"--feature-gates=InPlaceRestart"}, want: []string{"InPlaceRestart"}},
		"a file that is not there (O15)":        {args: []string{"--config=/does/not/exist"}, want: []string{"/does/not/exist"}},
		"a file with an unknown key (O14, O15)": {file: "colour: red\n", want: []string{`unknown field "colour"`}},
		"flags with invalid values, all named (O15)": {
			args: []string{"--metrics-bind-address=", "--kube-api-qps=NaN", "--kube-api-burst=0"},
			want: []string{"metrics.bindAddress", "clientConnection.qps"},
		},
		"a burst that the configuration cannot hold (O9, O15)": {
			args: []string{"--kube-api-burst=4294967297"},
			want: []string{"--kube-api-burst=4294967297: must be at most 2147483647"},
		},
		"everything that is wrong in file, flags and gates at once (O15)": {
			file: "webhook: {port: 0}\ntls: {minVersion: VersionTLS10}\nfeatureGates: {Foo: true}\n",
			args: []string{"--metrics-bind-address=x", "--feature-gates=TLSOptions=false"},
			want: []string{"invalid configuration: ", "webhook.port: ", `tls: Invalid value: "VersionTLS10"`, `metrics.bindAddress: Invalid value: "x"`,
				"featureGates: [", "TLSOptions is locked to true", "unknown feature gates: Foo"},
		},
		"a certificate of the metrics server that is not there (O15, O25)": {
			file: "metrics: {certDir: /does/not/exist}\n",
			args: []string{"--kubeconfig=KUBECONFIG"},
			want: []string{"metrics.certDir: ", "/does/not/exist/tls.crt"},
		},
		"an unknown gate of the flag, with the known ones (O15)": {
			args: []string{"--feature-gates=Foo=true"},
			want: []string{"unknown feature gates: Foo", "InPlaceRestart (ALPHA, default false)"},
		},
		"an unknown gate of the file (O15, O41)": {
			file: "featureGates: {Foo: true}\n",
			want: []string{"unknown feature gates: Foo"},
		},
		"a locked gate (O47)": {
			file: "featureGates: {TLSOptions: false}\n",
			want: []string{"TLSOptions is locked to true"},
		},
		"no API server, after the effective configuration was logged once (O15, O16)": {
			args: []string{"--kubeconfig=/does/not/exist", "--kube-api-qps=77"},
			want: []string{"Effective configuration", "qps: 77", "finding the API server"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := slices.Clone(tc.args)
			if tc.file != "" {
				args = append(args, "--config="+writeConfig(t, tc.file))
			}
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "KUBECONFIG", cluster)
			}
			var stderr bytes.Buffer
			opts, err := parseOptions(args, &stderr)
			if err == nil {
				log := zap.New(zap.WriteTo(&stderr), zap.UseDevMode(true))
				err = run(ctrl.LoggerInto(t.Context(), log), opts)
			}
			if err == nil {
				t.Fatal("no error")
			}
			output := stderr.String() + err.Error()
			for _, want := range tc.want {
				if !strings.Contains(output, want) {
					t.Errorf("output has no %q:\n%s", want, output)
				}
			}
			if got := strings.Count(output, "Effective configuration"); got > 1 {
				t.Errorf("the effective configuration was logged %d times, want once (O16)", got)
			}
		})
	}
}

func TestStartWithoutRunning(t *testing.T) {
	t.Run("--version prints the version (O19)", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if code := start(t.Context(), []string{"--version"}, &stdout, &stderr); code != 0 || !strings.HasPrefix(stdout.String(), "jobset v") {
			t.Errorf("code %d, output %q%q", code, stdout.String(), stderr.String())
		}
	})
	t.Run("--help lists the flags and succeeds", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if code := start(t.Context(), []string{"--help"}, &stdout, &stderr); code != 0 || !strings.Contains(stderr.String(), "-feature-gates") {
			t.Errorf("code %d, output %q%q", code, stdout.String(), stderr.String())
		}
	})
	t.Run("a wrong flag is one line and exit status 1 (O15)", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if code := start(t.Context(), []string{"--colour"}, &stdout, &stderr); code != 1 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("code %d, output %q%q", code, stdout.String(), stderr.String())
		}
	})
}

func TestAFailureIsOneLine(t *testing.T) {
	for name, args := range map[string][]string{
		"for people (O11, O15)":                     nil,
		"as JSON (O11, O15)":                        {"--zap-devel=false"},
		"with stack traces for the rest (O11, O15)": {"--zap-stacktrace-level=info", "--zap-log-level=error"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeConfig(t, "webhook: {port: 0}\n")
			var stdout, stderr bytes.Buffer
			if code := start(t.Context(), append(args, "--config="+path), &stdout, &stderr); code != 1 {
				t.Errorf("exit status %d, want 1", code)
			}
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "webhook.port: Invalid value: 0") || !strings.Contains(last, "The manager stops") {
				t.Errorf("the last line says %q, want what is wrong, in:\n%s", last, stderr.String())
			}
		})
	}
}

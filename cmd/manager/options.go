/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/pkg/features"
)

// Names of the flags that override the configuration.
const (
	metricsBindAddressFlag     = "metrics-bind-address"
	healthProbeBindAddressFlag = "health-probe-bind-address"
	leaderElectFlag            = "leader-elect"
	kubeAPIQPSFlag             = "kube-api-qps"
	kubeAPIBurstFlag           = "kube-api-burst"
)

// options holds the parsed command line.
type options struct {
	configFile string
	kubeconfig string
	version    bool
	zap        zap.Options

	// gates are the feature gates that were set by flag.
	gates map[string]bool
	// overrides write the values of the flags that were set into a configuration.
	overrides []func(*configapi.Configuration)
}

// parseOptions parses the command line. A flag that was not set overrides nothing, whatever
// its default is.
func parseOptions(args []string, usage io.Writer) (options, error) {
	opts := options{zap: zap.Options{Development: true}}

	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // a wrong flag prints one line, without pages of help
	fs.StringVar(&opts.configFile, "config", "",
		"File with the Configuration (config.jobset.x-k8s.io/v1alpha1). Empty means the defaults. Flags win over the file.")
	fs.StringVar(&opts.kubeconfig, "kubeconfig", "",
		"File with the kubeconfig. Empty means $KUBECONFIG, else the service account of the Pod, else ~/.kube/config.")
	fs.BoolVar(&opts.version, "version", false, "Print the version and exit.")
	fs.Var(cliflag.NewMapStringBool(&opts.gates), "feature-gates",
		"Feature gates as name=true|false, separated by commas. Each wins over its entry in the configuration. Gates: "+
			strings.Join(features.Known(features.New()), ", ")+".")
	overrides, burst := bindOverrides(fs)
	opts.zap.BindFlags(fs)

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fs.SetOutput(usage)
			fs.PrintDefaults()
		}
		return options{}, err
	}
	if fs.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected arguments: %s", strings.Join(fs.Args(), " "))
	}
	if *burst > math.MaxInt32 || *burst < math.MinInt32 { // config.Validate checks the rest
		return options{}, fmt.Errorf("--%s=%d: must be at most %d", kubeAPIBurstFlag, *burst, math.MaxInt32)
	}
	fs.Visit(func(typed *flag.Flag) {
		if override := overrides[typed.Name]; override != nil {
			opts.overrides = append(opts.overrides, override)
		}
	})
	return opts, nil
}

// bindOverrides adds the flags that override the configuration, and returns what each writes there, by its name, and the burst,
// which may not fit.
func bindOverrides(fs *flag.FlagSet) (overrides map[string]func(*configapi.Configuration), burst *int) {
	metrics := fs.String(metricsBindAddressFlag, configapi.DefaultMetricsBindAddress,
		`Address of the metrics server; "0" disables it. Wins over metrics.bindAddress.`)
	health := fs.String(healthProbeBindAddressFlag, configapi.DefaultHealthProbeBindAddress,
		`Address of the health probe server; "0" disables it. Wins over health.healthProbeBindAddress.`)
	elect := fs.Bool(leaderElectFlag, false,
		"Run only while being the leader. Wins over leaderElection.leaderElect, which is true unless the configuration sets it to false.")
	qps := fs.Float64(kubeAPIQPSFlag, float64(configapi.DefaultClientConnectionQPS),
		"Requests per second to the API server; negative for no limit. Wins over clientConnection.qps.")
	burst = fs.Int(kubeAPIBurstFlag, int(configapi.DefaultClientConnectionBurst),
		"Requests to the API server at once. Wins over clientConnection.burst.")
	return map[string]func(*configapi.Configuration){
		metricsBindAddressFlag:     func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = *metrics },
		healthProbeBindAddressFlag: func(cfg *configapi.Configuration) { cfg.Health.HealthProbeBindAddress = *health },
		leaderElectFlag:            func(cfg *configapi.Configuration) { cfg.LeaderElection.LeaderElect = elect },
		kubeAPIQPSFlag:             func(cfg *configapi.Configuration) { cfg.ClientConnection.QPS = ptr.To(float32(*qps)) },
		kubeAPIBurstFlag:           func(cfg *configapi.Configuration) { cfg.ClientConnection.Burst = ptr.To(int32(*burst)) },
	}, burst
}

// configuration returns the effective configuration: flags win over the file, and the file over the
// defaults. It may still be invalid. Ignored are keys and gates of the file that a later release has.
func (o options) configuration() (cfg *configapi.Configuration, ignored []string, err error) {
	cfg, ignored, err = config.Load(o.configFile)
	if err != nil {
		return nil, nil, err
	}
	if config.Later(cfg) {
		known := features.New().GetAll()
		for _, name := range slices.Sorted(maps.Keys(cfg.FeatureGates)) {
			if _, ok := known[featuregate.Feature(name)]; !ok {
				delete(cfg.FeatureGates, name)
				ignored = append(ignored, "featureGates."+name)
			}
		}
	}
	for _, override := range o.overrides {
		override(cfg)
	}
	if len(o.gates) > 0 {
		gates := map[string]bool{}
		maps.Copy(gates, cfg.FeatureGates)
		maps.Copy(gates, o.gates)
		cfg.FeatureGates = gates
	}
	return cfg, ignored, nil
}

// apply validates a configuration and sets the gates accordingly. It returns all errors
// at once.
func apply(cfg *configapi.Configuration, gate featuregate.MutableFeatureGate) error {
	errs := []error{config.Validate(cfg).ToAggregate()}
	if err := features.Apply(gate, cfg.FeatureGates); err != nil {
		errs = append(errs, fmt.Errorf("featureGates: %w", err))
	} else if gate.Enabled(features.ElasticAutoscaling) && !gate.Enabled(features.ElasticJobSet) {
		errs = append(errs, errors.New("featureGates: ElasticAutoscaling needs ElasticJobSet, by which sizes may change: set both to true"))
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return fmt.Errorf("invalid configuration: %w", err)
	}
	return nil
}

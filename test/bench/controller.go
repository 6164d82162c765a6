/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	runtimemetrics "runtime/metrics"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/controllers"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	"sigs.k8s.io/jobset/pkg/features"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/cluster"
)

// What the benchmark writes to the standard input of the process it measures.
// Each line is answered with what was used, in JSON, on standard output.
const (
	beginCommand = "begin" // and the name of a profile, if one is wanted
	endCommand   = "end"
)

type controllerOptions struct {
	kubeconfig, profiles string
	// tolerant gives it the feature gate FaultTolerance, inPlace gate InPlaceRestart.
	tolerant, inPlace bool
}

func controllerCommand() func(context.Context) error {
	var o controllerOptions
	flag.StringVar(&o.kubeconfig, "cluster", "", "the kubeconfig of the cluster")
	flag.StringVar(&o.profiles, "profiles", "", "directory for profiles")
	flag.BoolVar(&o.tolerant, "tolerant", false, "switch FaultTolerance on")
	flag.BoolVar(&o.inPlace, "in-place", false, "switch InPlaceRestart on")
	return o.serve
}

// serve runs the JobSet controller with the limits and gates that ship by
// default, and takes samples of its own process, until ctx or standard input ends.
func (o *controllerOptions) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := zap.New(zap.UseDevMode(true)) // to standard error, as the manager does
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	mgr, err := o.newManager(ctx)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the caches of the manager do not fill")
	}
	err = answer(sampler{profiles: o.profiles})
	cancel()
	return errors.Join(err, <-ended)
}

func (o *controllerOptions) newManager(ctx context.Context) (ctrl.Manager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(configapi.DefaultClientConnectionQPS, int(configapi.DefaultClientConnectionBurst))
	gates := features.Snapshot(features.New())
	gates.FaultTolerance, gates.InPlaceRestart = o.tolerant, o.inPlace
	options := ctrl.Options{
		Scheme:  cluster.NewScheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   controllers.CacheOptions(),
	}
	options.Cache.ReaderFailOnMissingInformer = true
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	health := jobsetcontroller.NodeHealth{KeepAway: nodehealth.DefaultRules(), MoveOff: nodehealth.DefaultRules()}
	return mgr, jobsetcontroller.Setup(ctx, mgr, gates, policy.Deadlines{}, jobsetcontroller.WithNodeHealth(health),
		jobsetcontroller.WithInjection(workerpod.Injection{Image: agentImage}))
}

// answer says that the manager runs, then answers each command.
func answer(s sampler) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(processUse{}); err != nil {
		return err
	}
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		command, profile, _ := strings.Cut(commands.Text(), " ")
		var u processUse
		var err error
		if command == beginCommand {
			u, err = s.begin(profile)
		} else {
			u, err = s.end()
		}
		if err != nil {
			return err
		}
		if err := out.Encode(u); err != nil {
			return err
		}
	}
	return commands.Err()
}

type sampler struct {
	profiles, profile string
	cpu               *os.File
}

// begin samples at the beginning of a window, on a heap without garbage.
func (s *sampler) begin(profile string) (processUse, error) {
	s.profile = profile
	if s.profiling() {
		var err error
		if s.cpu, err = os.Create(filepath.Join(s.profiles, profile+"-cpu.pprof")); err != nil {
			return processUse{}, err
		}
		if err := pprof.StartCPUProfile(s.cpu); err != nil {
			return processUse{}, err
		}
	}
	runtime.GC()
	return sample()
}

// end samples at the end of a window.
func (s *sampler) end() (processUse, error) {
	u, err := sample()
	if err != nil || !s.profiling() {
		return u, err
	}
	pprof.StopCPUProfile()
	allocs, err := os.Create(filepath.Join(s.profiles, s.profile+"-allocs.pprof"))
	if err != nil {
		return u, err
	}
	return u, errors.Join(s.cpu.Close(), pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close())
}

func (s *sampler) profiling() bool { return s.profiles != "" && s.profile != "" }

// sample says what this process has used since it started.
func sample() (processUse, error) {
	var cpu syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &cpu); err != nil {
		return processUse{}, fmt.Errorf("reading the CPU time: %w", err)
	}
	heap := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/allocs:objects"}}
	runtimemetrics.Read(heap)
	u := processUse{
		At:       time.Now(),
		CPU:      time.Duration(cpu.Utime.Nano() + cpu.Stime.Nano()),
		Bytes:    float64(heap[0].Value.Uint64()),
		Objects:  float64(heap[1].Value.Uint64()),
		Requests: map[string]int{},
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		return processUse{}, fmt.Errorf("gathering metrics: %w", err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			count := int(metric.GetCounter().GetValue())
			switch family.GetName() {
			case "controller_runtime_reconcile_total":
				u.Passes += count
			case "rest_client_requests_total":
				for _, label := range metric.GetLabel() {
					if label.GetName() == "method" {
						u.Requests[label.GetValue()] += count
					}
				}
			}
		}
	}
	return u, nil
}

// measured is the process with the controller in it, seen from the benchmark.
type measured struct {
	cmd     *exec.Cmd
	log     *os.File
	in      io.WriteCloser
	answers *json.Decoder
}

// startManager starts this program once more, as the process that is measured,
// and waits until its controller runs.
func (b *startBench) startManager(ctx context.Context, flags ...string) (_ *measured, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	m := &measured{}
	if m.log, err = os.Create(filepath.Join(b.dir, "manager.log")); err != nil {
		return nil, fmt.Errorf("opening the log of the manager: %w", err)
	}
	m.cmd = exec.CommandContext(ctx, program, append([]string{"controller", "--cluster=" + b.plane.Kubeconfig, "--profiles=" + b.profiles}, flags...)...)
	m.cmd.Stderr = m.log
	// An interrupt from the keyboard reaches it through stop only.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	m.answers = json.NewDecoder(out)
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	if err := m.answers.Decode(&processUse{}); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the manager: %w", err), m.stop())
	}
	return m, nil
}

// window says what the process used while something was done, and how long that took.
func (m *measured) window(profile string, do func() error) (processUse, time.Duration, error) {
	before, err := m.ask(beginCommand + " " + profile)
	if err != nil {
		return processUse{}, 0, err
	}
	if err := do(); err != nil {
		return processUse{}, 0, err
	}
	after, err := m.ask(endCommand)
	return after.since(before), after.At.Sub(before.At), err
}

func (m *measured) ask(command string) (processUse, error) {
	var u processUse
	if _, err := fmt.Fprintln(m.in, command); err != nil {
		return u, fmt.Errorf("asking the manager what it used: %w", err)
	}
	if err := m.answers.Decode(&u); err != nil {
		return u, fmt.Errorf("reading what the manager used: %w", err)
	}
	return u, nil
}

// stop lets the process end by itself. If it fails, the end of its log says why.
func (m *measured) stop() error {
	err := errors.Join(m.in.Close(), m.cmd.Wait())
	if err != nil {
		text, _ := os.ReadFile(m.log.Name()) // a log that cannot be read is left out
		err = fmt.Errorf("the manager failed: %w\n%s", err, text[max(0, len(text)-4096):])
	}
	return errors.Join(err, m.log.Close())
}

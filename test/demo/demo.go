/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	namespace = "default" // with nothing in it that was prepared
	workers   = 2
	patience  = time.Minute
)

const sample = "config/samples/jobset_v1alpha2_in_place_restart.yaml"

// round is the restart of one JobSet.
type round struct {
	// jobSet is its name, manifest what is said of it.
	jobSet, manifest string
	// change makes the manifest of the sample; nil is the sample itself.
	change func(*jobset.JobSet)
	// supervised: its workers are children of supervisors.
	supervised bool
}

var rounds = []round{
	{jobSet: "training", manifest: sample, supervised: true},
	{jobSet: "training-containers", manifest: "the sample with inPlaceRestart: {mode: Container}", change: func(js *jobset.JobSet) {
		js.Name = "training-containers"
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode}
	}},
}

// demo is what the demo has started so far.
type demo struct {
	options
	dir, marker string
	began       time.Time
	// said is what was said so far.
	said []string
	// managerLog is the log file of the manager.
	managerLog string

	cluster *cluster.Cluster
	runtime *simnode.ProcessRuntime
	round   round
	view    *view
	// stopNodes stop the simulated nodes, and with them every container.
	stopNodes []func()
}

// run takes the steps of the demo. What it starts is stopped by end.
func (d *demo) run(ctx context.Context) error {
	steps := []func(context.Context) error{d.startControlPlane, d.startNodes, d.startManager}
	for _, round := range rounds {
		steps = append(steps, func(ctx context.Context) error { d.round = round; return d.createJobSet(ctx) }, d.killWorker)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if d.keep {
		d.leaveRunning(ctx)
	}
	return nil
}

func (d *demo) say(format string, args ...any) {
	line := fmt.Sprintf("%6.1f s  %s", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
	d.said = append(d.said, line)
	fmt.Println(line)
}

func (d *demo) startControlPlane(ctx context.Context) error {
	d.say("start etcd, kube-apiserver, kube-controller-manager and kube-scheduler")
	var err error
	d.cluster, err = cluster.Start(cluster.Options{Assets: d.Assets, Root: d.Root, Dir: d.dir, Controllers: &cluster.Controllers{}})
	if err != nil {
		return err
	}
	version, err := d.cluster.Client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server for its version: %w", err)
	}
	d.say("Kubernetes %s is up, with the JobSet CRD; install access rules", version.GitVersion)
	return d.cluster.Install(ctx)
}

// startNodes starts two simulated nodes, which run until end.
func (d *demo) startNodes(context.Context) error {
	d.say("start two simulated nodes, which run Pods as processes")
	var err error
	if d.runtime, err = d.Containers(d.dir); err != nil {
		return err
	}
	for _, name := range []string{"node-a", "node-b"} {
		stop, err := d.cluster.RunNode(simnode.Options{Name: name, Runtime: d.runtime, EnvFor: func(pod *corev1.Pod) []corev1.EnvVar {
			return append(cluster.PodAddress(pod), corev1.EnvVar{Name: markerVariable, Value: d.dir})
		}})
		if err != nil {
			return err
		}
		d.stopNodes = append(d.stopNodes, stop)
	}
	return nil
}

func (d *demo) startManager(ctx context.Context) error {
	args := []string{"--feature-gates=InPlaceRestart=true"}
	if d.logLevel > 0 {
		args = append(args, fmt.Sprintf("--zap-log-level=%d", d.logLevel))
	}
	d.say("start the manager with %s", strings.Join(args, " "))
	manager, err := d.cluster.StartManager(ctx, cluster.ManagerOptions{
		Program: d.Manager,
		Alone:   true,
		Args:    args,
		Config:  "inPlaceRestart:\n  agentImage: " + cluster.AgentImage + "\n",
	})
	if err == nil {
		d.managerLog = manager.LogFile
	}
	return err
}

// keepLog copies the log of the manager, which is removed with all else that the demo wrote.
func (d *demo) keepLog() error {
	if d.logLevel == 0 || d.managerLog == "" {
		return nil
	}
	text, err := os.ReadFile(d.managerLog)
	if err != nil {
		return err
	}
	path := filepath.Join(d.Root, "bin", "demo-manager.log")
	d.say("the log of the manager is in %s", path)
	return os.WriteFile(path, text, 0o644)
}

func (d *demo) createJobSet(ctx context.Context) error {
	fmt.Println()
	d.say("create JobSet %s with %d workers: %s", d.round.jobSet, workers, d.round.manifest)
	manifest, err := d.writeManifest()
	if err != nil {
		return err
	}
	api, err := d.cluster.NewClient()
	if err != nil {
		return err
	}
	d.view = &view{client: api, name: d.round.jobSet}
	if _, err := d.cluster.Kubectl(ctx, "apply", "--server-side", "-n", namespace, "-f", manifest); err != nil {
		return err
	}
	_, err = d.view.await(ctx, "both workers run at epoch 1", func() bool {
		_, synced := d.view.epochs()
		return synced == 1 && d.view.allReport(workers, 1) && d.view.allRun(workers, 0)
	})
	if err == nil {
		_, err = d.workersRun(ctx, nil)
	}
	if err == nil {
		d.say("both workers run, at epoch 1")
	}
	return err
}

// writeManifest returns the file that is applied.
func (d *demo) writeManifest() (string, error) {
	file := filepath.Join(d.Root, sample)
	if d.round.change == nil {
		return file, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the sample: %w", err)
	}
	var js jobset.JobSet
	if err := yaml.UnmarshalStrict(text, &js); err != nil {
		return "", fmt.Errorf("reading %s: %w", sample, err)
	}
	js.Spec.ReplicatedJobs[0].Replicas = 1 // the default, of which the type makes 0
	d.round.change(&js)
	if text, err = yaml.Marshal(&js); err != nil {
		return "", fmt.Errorf("writing JobSet %s: %w", js.Name, err)
	}
	file = filepath.Join(d.dir, d.round.jobSet+".yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// workersRun waits until all workers are processes, other ones than before, and returns when that was. The API
// does not show it in process mode.
func (d *demo) workersRun(ctx context.Context, before []observed) (time.Time, error) {
	err := wait.PollUntilContextTimeout(ctx, 2*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		now, err := d.observe(ctx)
		if err != nil {
			return false, err
		}
		for i := range now {
			if now[i].process == 0 || i < len(before) && now[i].process == before[i].process {
				return false, nil
			}
		}
		return len(now) == workers, nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("waiting until all workers run: %w", err)
	}
	return time.Now(), nil
}

// killWorker kills one worker and follows the group restart.
func (d *demo) killWorker(ctx context.Context) error {
	before, err := d.observe(ctx)
	if err != nil {
		return err
	}
	victim, first := &before[0], len(d.said)-1
	d.say("kill -9 %d, the worker of Pod %s", victim.process, victim.pod.Name)
	killed := time.Now()
	if err := syscall.Kill(victim.process, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing worker process %d: %w", victim.process, err)
	}
	moments := []struct {
		text string
		met  func() bool
	}{
		{"break: the controller ends epoch 1", func() bool { deprecated, _ := d.view.epochs(); return deprecated == 1 }},
		{"both agents are back and report epoch 2", func() bool { return d.view.allReport(workers, 2) }},
		{"lift: the whole group has reached epoch 2", func() bool { _, synced := d.view.epochs(); return synced == 2 }},
	}
	for _, moment := range moments {
		at, err := d.view.await(ctx, moment.text, moment.met)
		if err != nil {
			return err
		}
		d.say("%+5.2f s after the kill: %s", at.Sub(killed).Seconds(), moment.text)
	}
	at, err := d.workersRun(ctx, before)
	if err != nil {
		return err
	}
	d.say("%+5.2f s after the kill: both workers run again", at.Sub(killed).Seconds())
	if d.picture != "" && d.round.supervised {
		if err := draw(d.picture, d.said[first:]); err != nil {
			return err
		}
	}
	after, err := d.observe(ctx)
	if err != nil {
		return err
	}
	d.printPods(before, after)
	if err := d.printEvents(ctx); err != nil {
		return err
	}
	return d.check(before, after)
}

func (d *demo) leaveRunning(ctx context.Context) {
	fmt.Printf("\nThe cluster runs until you press Ctrl-C. In another shell:\n\n")
	fmt.Printf("  export KUBECONFIG=%s\n", d.cluster.Kubeconfig)
	fmt.Printf("  %s get jobsets,pods\n", filepath.Join(d.Assets, "kubectl"))
	fmt.Printf("\nWorkers are the processes named worker: kill one and watch. Logs are in %s\n", d.dir)
	<-ctx.Done()
}

// end stops what was started and checks that nothing is left.
func (d *demo) end() error {
	fmt.Println()
	d.say("stop everything")
	var errs []error
	for _, stop := range d.stopNodes {
		stop()
	}
	if d.cluster != nil {
		errs = append(errs, d.cluster.Stop())
	}
	errs = append(errs, nothingLeft(context.Background(), d.marker))
	return errors.Join(errs...)
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const deployment = "Deployment jobset-controller"

// Each row changes values, and says all that changes in the Deployment by that.
func TestDeployment(t *testing.T) {
	manager := func(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }
	pod := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }

	tests := map[string]struct {
		values string
		want   func(*appsv1.Deployment)
	}{
		"O131, O132, O263: image and tag are those that are set": {
			values: `image: {repository: example.com/jobset, tag: v1}`,
			want:   func(d *appsv1.Deployment) { manager(d).Image = "example.com/jobset:v1" },
		},
		"O132: without a tag the image is that of the chart's appVersion": {
			values: `image: {tag: ""}`,
			want:   func(d *appsv1.Deployment) { manager(d).Image = "jobset/manager:v0.13.0-alpha.0" },
		},
		"O133, O263: the pull policy is the one that is set": {
			values: `image: {pullPolicy: Always}`,
			want:   func(d *appsv1.Deployment) { manager(d).ImagePullPolicy = corev1.PullAlways },
		},
		"O134, O263: the Pods have the pull secrets": {
			values: `image: {pullSecrets: [{name: one}, {name: two}]}`,
			want: func(d *appsv1.Deployment) {
				pod(d).ImagePullSecrets = []corev1.LocalObjectReference{{Name: "one"}, {Name: "two"}}
			},
		},
		"O135, O263: ten replicas": {
			values: `controller: {replicas: 10}`,
			want:   func(d *appsv1.Deployment) { *d.Spec.Replicas = 10 },
		},
		"O135, O263: no replicas are not one": {
			values: `controller: {replicas: 0}`,
			want:   func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 },
		},
		"O140, O263: the manager has the environment variables": {
			values: `controller: {env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`,
			want: func(d *appsv1.Deployment) {
				manager(d).Env = []corev1.EnvVar{
					{Name: "A", Value: "1"},
					{Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
				}
			},
		},
		"O140, O263: the manager has environment variables of a ConfigMap": {
			values: `controller: {envFrom: [{configMapRef: {name: proxy}}]}`,
			want: func(d *appsv1.Deployment) {
				manager(d).EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "proxy"}}}}
			},
		},
		"O141, O263: volume mounts come after those of the chart": {
			values: `controller: {volumeMounts: [{name: scratch, mountPath: /scratch}]}`,
			want: func(d *appsv1.Deployment) {
				manager(d).VolumeMounts = append(manager(d).VolumeMounts, corev1.VolumeMount{Name: "scratch", MountPath: "/scratch"})
			},
		},
		"O141, O263: volumes come after those of the chart": {
			values: `controller: {volumes: [{name: scratch, emptyDir: {}}]}`,
			want: func(d *appsv1.Deployment) {
				pod(d).Volumes = append(pod(d).Volumes, corev1.Volume{Name: "scratch",
					VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
			},
		},
		"O142, O263: resources that are set are added to the default ones": {
			values: `controller: {resources: {requests: {cpu: "1"}, limits: {cpu: "2", memory: 1Gi}}}`,
			want: func(d *appsv1.Deployment) {
				manager(d).Resources = corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi")},
				}
			},
		},
		"O143, O263: the container has the security context": {
			values: `controller: {securityContext: {runAsUser: 1000, readOnlyRootFilesystem: false}}`,
			want: func(d *appsv1.Deployment) {
				user, readOnly := int64(1000), false
				manager(d).SecurityContext.RunAsUser, manager(d).SecurityContext.ReadOnlyRootFilesystem = &user, &readOnly
			},
		},
		"O144: the Pods have the security context": {
			values: `controller: {podSecurityContext: {fsGroup: 2000}}`,
			want: func(d *appsv1.Deployment) {
				group := int64(2000)
				pod(d).SecurityContext.FSGroup = &group
			},
		},
		"O145, O263: the Pods have the node selector": {
			values: `controller: {nodeSelector: {disk: ssd}}`,
			want:   func(d *appsv1.Deployment) { pod(d).NodeSelector = map[string]string{"disk": "ssd"} },
		},
		"O145, O263: the Pods have the affinity": {
			values: `controller: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}`,
			want: func(d *appsv1.Deployment) {
				pod(d).Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}}
			},
		},
		"O145, O263: the Pods have the tolerations": {
			values: `controller: {tolerations: [{key: infra, operator: Exists}]}`,
			want: func(d *appsv1.Deployment) {
				pod(d).Tolerations = []corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}}
			},
		},
		"O146: on the network of the node, the names of the cluster still resolve": {
			values: `controller: {hostNetwork: true}`,
			want: func(d *appsv1.Deployment) {
				pod(d).HostNetwork, pod(d).DNSPolicy = true, corev1.DNSClusterFirstWithHostNet
			},
		},
		"O138, O263: the Deployment has the annotations": {
			values: `controller: {annotations: {team: batch}}`,
			want:   func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "batch"} },
		},
		"O139, O263: the Pods have the annotations, and never another hash": {
			values: `controller: {podAnnotations: {team: batch, jobset.x-k8s.io/config-hash: mine}}`,
			want:   func(d *appsv1.Deployment) { d.Spec.Template.Annotations["team"] = "batch" },
		},
		"O130: common labels are on Deployment and Pods, and in no selector": {
			values: `commonLabels: {team: batch, app.kubernetes.io/name: other, app.kubernetes.io/component: other}`,
			want: func(d *appsv1.Deployment) {
				d.Labels["team"], d.Spec.Template.Labels["team"] = "batch", "batch"
			},
		},
		"O512: the manager has the log level": {
			values: `controller: {logLevel: debug}`,
			want:   func(d *appsv1.Deployment) { manager(d).Args[1] = "--zap-log-level=debug" },
		},
		"O512: flags come after those of the chart": {
			values: `controller: {extraArgs: ["--zap-encoder=json"]}`,
			want:   func(d *appsv1.Deployment) { manager(d).Args = append(manager(d).Args, "--zap-encoder=json") },
		},
		"O512: the Pods have the priority class": {
			values: `controller: {priorityClassName: system-cluster-critical}`,
			want:   func(d *appsv1.Deployment) { pod(d).PriorityClassName = "system-cluster-critical" },
		},
		"O512: the Pods spread as they are told": {
			values: `controller: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}`,
			want: func(d *appsv1.Deployment) {
				pod(d).TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
					{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}}
			},
		},
		"O512: the Deployment keeps as many ReplicaSets as it is told, none as well": {
			values: `controller: {revisionHistoryLimit: 0}`,
			want:   func(d *appsv1.Deployment) { *d.Spec.RevisionHistoryLimit = 0 },
		},
		"O512: probes have the times, and ask what they always ask": {
			values: `controller: {startupProbe: {failureThreshold: 100}, livenessProbe: {timeoutSeconds: 3}, readinessProbe: {periodSeconds: 1}}`,
			want: func(d *appsv1.Deployment) {
				manager(d).StartupProbe.FailureThreshold = 100
				manager(d).LivenessProbe.TimeoutSeconds = 3
				manager(d).ReadinessProbe.PeriodSeconds = 1
			},
		},
		"the manager has the time to end": {
			values: `controller: {terminationGracePeriodSeconds: 30}`,
			want:   func(d *appsv1.Deployment) { *pod(d).TerminationGracePeriodSeconds = 30 },
		},
		"O148: with cert-manager the certificate of the metrics is mounted": {
			values: `certManager: {enable: true}`,
			want: func(d *appsv1.Deployment) {
				mode := int32(420)
				manager(d).VolumeMounts = append(manager(d).VolumeMounts,
					corev1.VolumeMount{Name: "metrics-cert", MountPath: "/tmp/k8s-metrics-server/serving-certs", ReadOnly: true})
				pod(d).Volumes = append(pod(d).Volumes, corev1.Volume{Name: "metrics-cert", VolumeSource: corev1.VolumeSource{
					Secret: &corev1.SecretVolumeSource{SecretName: "jobset-metrics-server-cert", DefaultMode: &mode}}})
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := get[appsv1.Deployment](t, release{}, deployment)
			tc.want(want)
			got := get[appsv1.Deployment](t, release{values: tc.values}, deployment)
			if hash := got.Spec.Template.Annotations[configHash]; len(hash) != 64 {
				t.Errorf("%s is %q, want a sha256 sum (O139, O263)", configHash, hash)
			}
			ignoreHashIf(tc.values == `certManager: {enable: true}`, want, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Deployment (-want +got):\n%s", diff)
			}
		})
	}
}

const configHash = "jobset.x-k8s.io/config-hash"

// ignoreHashIf takes out the hash where a row changes the configuration as well.
func ignoreHashIf(changed bool, deployments ...*appsv1.Deployment) {
	for _, d := range deployments {
		if changed {
			delete(d.Spec.Template.Annotations, configHash)
		}
	}
}

func TestDefaultDeployment(t *testing.T) {
	d := get[appsv1.Deployment](t, release{}, deployment)
	if len(d.Annotations) > 0 {
		t.Errorf("O263: annotations are %v, want none", d.Annotations)
	}
	names := func(ports []corev1.ContainerPort) map[string]int32 {
		all := map[string]int32{}
		for _, port := range ports {
			all[port.Name] = port.ContainerPort
		}
		return all
	}
	manager := d.Spec.Template.Spec.Containers[0]
	if manager.Name != "controller" {
		t.Errorf("O154: the container is %s, want controller", manager.Name)
	}
	if diff := cmp.Diff(map[string]int32{"health-probe": 8081, "webhook": 9443, "metrics": 8443}, names(manager.Ports)); diff != "" {
		t.Errorf("O154: ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels); diff != "" {
		t.Errorf("the selector does not select the Pods (-selector +Pods):\n%s", diff)
	}
}

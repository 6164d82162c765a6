/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const firstTemplate = "spec.volumeClaimPolicies[0].templates[0]"

func template(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		},
	}
}

func claimPolicy(when jobset.RetentionPolicyType, names ...string) jobset.VolumeClaimPolicy {
	policy := jobset.VolumeClaimPolicy{RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: &when}}
	for _, name := range names {
		policy.Templates = append(policy.Templates, template(name))
	}
	return policy
}

func mount(js *jobset.JobSet, i int, names ...string) {
	for _, name := range names {
		worker := &pod(js, i).Containers[0]
		worker.VolumeMounts = append(worker.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
}

// claimJobSet is plainJobSet with the claims data-js and logs-js, which its workers mount.
func claimJobSet() *jobset.JobSet {
	js := plainJobSet()
	js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{
		claimPolicy(jobset.RetentionPolicyRetain, "data"), claimPolicy(jobset.RetentionPolicyDelete, "logs")}
	mount(js, 1, "data", "logs")
	return js
}

func TestCreateVolumeClaims(t *testing.T) {
	named := func(names ...string) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{claimPolicy(jobset.RetentionPolicyRetain, names...)}
			mount(js, 0, names...)
		}
	}
	const name = firstTemplate + ".metadata.name"
	const volumes = "spec.replicatedJobs[1].template.spec.template.spec.volumes"
	runCreate(t, claimJobSet, map[string]createCase{
		"W64..W68: claims that the workers mount": {},
		"W64, Q10: a name twice in one policy, and again in another": {
			mut: func(js *jobset.JobSet) {
				js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{
					claimPolicy(jobset.RetentionPolicyRetain, "data", "data"), claimPolicy(jobset.RetentionPolicyDelete, "data")}
			},
			want: []violation{
				invalid("spec.volumeClaimPolicies[0].templates[1].metadata.name", "names must be unique for VolumeClaimPolicies template"),
				invalid("spec.volumeClaimPolicies[1].templates[0].metadata.name", "names must be unique for VolumeClaimPolicies template"),
			},
		},
		"W65: no name": {
			mut: named(""), want: []violation{invalid(name, "a lowercase RFC 1123 subdomain must consist of")},
		},
		"W65: a name in capitals": {
			mut: named("Data"), want: []violation{invalid(name, "a lowercase RFC 1123 subdomain must consist of")},
		},
		"W65, Q11: a name with dots cannot be that of a Pod volume": {
			mut: named("a.b"), want: []violation{invalid(name, "it is also the name of a Pod volume: must not contain dots")},
		},
		"W66: claim names of 63 characters are accepted": {mut: named(strings.Repeat("a", 60))},
		"W66: claim names of 64 characters": {
			mut: named(strings.Repeat("a", 61)), want: []violation{invalid(name, "VolumeClaimPolicies template name is too long")},
		},
		"W66, W7: a generated name counts with its suffix": {
			mut: func(js *jobset.JobSet) {
				js.Name, js.GenerateName = "", "js-"
				named(strings.Repeat("a", 55))(js)
			},
			want: []violation{invalid(name, "VolumeClaimPolicies template name is too long")},
		},
		"W67: a Pod volume has the name already": {
			mut: func(js *jobset.JobSet) { pod(js, 1).Volumes = []corev1.Volume{{Name: "x"}, {Name: "data"}} },
			want: []violation{
				invalid(volumes+"[1].name", "volume name conflicts with VolumeClaimPolicy template name: data"),
			},
		},
		"W68, Q20: nobody mounts it, and the list of ReplicatedJobs is not printed": {
			mut: func(js *jobset.JobSet) { pod(js, 1).Containers[0].VolumeMounts = nil; mount(js, 0, "logs") },
			want: []violation{
				invalid(replicatedJobs, "replicatedJob containers don't have a matching volumeMount: data, wanted by "+firstTemplate),
			},
		},
		"W68: an init container is enough": {
			mut: func(js *jobset.JobSet) {
				pod(js, 0).InitContainers = pod(js, 1).Containers
				pod(js, 1).Containers = []corev1.Container{{Name: "worker"}}
			},
		},
		"S3: the namespace of a template is a matter of the schema": {
			mut: func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies[0].Templates[0].Namespace = "x" },
		},
		"Q35: policies with nothing in them": {
			mut: func(js *jobset.JobSet) {
				js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{}, {RetentionPolicy: &jobset.VolumeRetentionPolicy{}}}
			},
		},
	})
	t.Run("W68, Q20: no value is shown", func(t *testing.T) {
		js := claimJobSet()
		pod(js, 1).Containers[0].VolumeMounts = nil
		for _, err := range Create(js, gateOff) {
			if err.BadValue != any(noValue) {
				t.Errorf("%v shows %v", err, err.BadValue)
			}
		}
	})
}

func TestClaimsToFind(t *testing.T) {
	cases := map[string]struct {
		mut  func(js *jobset.JobSet)
		want []string
	}{
		"W69: the claims of all policies":        {want: []string{"data-js", "logs-js"}},
		"a JobSet without claims asks for none":  {mut: func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies = nil }},
		"Q34: a name that is not known yet":      {mut: func(js *jobset.JobSet) { js.Name, js.GenerateName = "", "js-" }},
		"W64, W65: names that are refused":       {mut: func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies[0].Templates[0].Name = "a/b" }, want: []string{"logs-js"}},
		"W64: a name that is there twice is one": {mut: func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies[1].Templates[0].Name = "data" }, want: []string{"data-js"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			js := claimJobSet()
			if tc.mut != nil {
				tc.mut(js)
			}
			if diff := cmp.Diff(tc.want, ClaimsToFind(js)); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

// live returns a claim with the fields that the API server and the binder set.
func live(name string) *corev1.PersistentVolumeClaim {
	claim := template(name)
	claim.Namespace = "ns"
	claim.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	claim.Spec.StorageClassName = ptr.To("standard")
	claim.Spec.VolumeName = "pvc-4711"
	claim.Finalizers = []string{"kubernetes.io/pvc-protection"}
	return &claim
}

func controlledBy(apiVersion, kind, name string) func(*corev1.PersistentVolumeClaim) {
	return func(claim *corev1.PersistentVolumeClaim) {
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "1", Controller: ptr.To(true)}}
	}
}

func TestExistingClaims(t *testing.T) {
	const spec, whenDeleted = firstTemplate + ".spec", "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted"
	retention := func(p *jobset.VolumeRetentionPolicy) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.VolumeClaimPolicies[0].RetentionPolicy = p }
	}
	deleted := func(js *jobset.JobSet) {
		retention(&jobset.VolumeRetentionPolicy{WhenDeleted: ptr.To(jobset.RetentionPolicyDelete)})(js)
	}
	bigger := func(js *jobset.JobSet) {
		js.Spec.VolumeClaimPolicies[0].Templates[0].Spec.Resources.Requests["storage"] = resource.MustParse("2Gi")
	}
	terminating := func(claim *corev1.PersistentVolumeClaim) { claim.DeletionTimestamp = &metav1.Time{} }
	cases := map[string]struct {
		mut   func(js *jobset.JobSet)
		claim func(claim *corev1.PersistentVolumeClaim) // the live data-js; nil: as made from the template
		found map[string]FoundClaim                     // instead
		want  []violation
	}{
		"W69, Q8: a retained claim, defaulted and bound, is used again": {},
		"W69: nothing is there": {mut: each(deleted, bigger), found: map[string]FoundClaim{}},
		"W69: the claim differs from the template": {
			mut:  bigger,
			want: []violation{invalid(spec, "spec does not match existing PVC data-js in namespace ns, which differs in: resources.requests[storage]")},
		},
		"W70: the claim would be deleted": {
			mut:  deleted,
			want: []violation{invalid(whenDeleted, "retentionPolicy must be retain when PVC exists")},
		},
		"W69, W70: both": {
			mut: each(deleted, bigger),
			want: []violation{
				invalid(spec, "spec does not match existing PVC data-js in namespace ns"),
				invalid(whenDeleted, "retentionPolicy must be retain when PVC exists"),
			},
		},
		"W70, Q35: an empty retention policy means Delete": {
			mut:  retention(&jobset.VolumeRetentionPolicy{}),
			want: []violation{invalid(whenDeleted, "retentionPolicy must be retain when PVC exists")},
		},
		"W70: without a retention policy the claim stays": {mut: retention(nil)},
		"W71: the claim cannot be read": {
			found: map[string]FoundClaim{"data-js": {Err: errors.New("etcd is tired")}},
			want:  []violation{{field.ErrorTypeInternal, firstTemplate, "failed to check for existing PVC data-js: etcd is tired"}},
		},
		"Q9: a claim that is being deleted does not count": {mut: each(deleted, bigger), claim: terminating},
		"Q9: the claim of an earlier JobSet of this name does not count, the garbage collector takes it": {
			mut: each(deleted, bigger), claim: controlledBy("jobset.x-k8s.io/v1alpha2", "JobSet", "js"),
		},
		"Q36: the claim of another JobSet, whatever the policy and the spec": {
			mut: each(deleted, bigger), claim: controlledBy("jobset.x-k8s.io/v1", "JobSet", "data"),
			want: []violation{invalid(firstTemplate+".metadata.name", "PVC data-js in namespace ns belongs to another JobSet: choose another template name")},
		},
		"Q9, Q36: the claim of another JobSet that is being deleted": {
			claim: func(claim *corev1.PersistentVolumeClaim) {
				controlledBy("jobset.x-k8s.io/v1alpha2", "JobSet", "data")(claim)
				terminating(claim)
			},
		},
		"Q36: other controllers may share, a JobSet of another group too": {
			claim: controlledBy("example.com/v1", "JobSet", "data"),
		},
		"Q36: an owner that is no controller is none": {
			claim: func(claim *corev1.PersistentVolumeClaim) {
				controlledBy("jobset.x-k8s.io/v1alpha2", "JobSet", "data")(claim)
				claim.OwnerReferences[0].Controller = nil
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			js := claimJobSet()
			if tc.mut != nil {
				tc.mut(js)
			}
			found := tc.found
			if found == nil {
				claim := live("data-js")
				if tc.claim != nil {
					tc.claim(claim)
				}
				found = map[string]FoundClaim{"data-js": {Claim: claim}}
			}
			expect(t, tc.want, ExistingClaims(js, found))
		})
	}
}

func TestClaimDifferences(t *testing.T) {
	set := func(change func(spec *corev1.PersistentVolumeClaimSpec)) corev1.PersistentVolumeClaimSpec {
		var spec corev1.PersistentVolumeClaimSpec
		change(&spec)
		return spec
	}
	source := corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "s"}
	// One way to ask for something else, by the name of the field.
	cases := map[string]struct {
		want corev1.PersistentVolumeClaimSpec
		path string
	}{
		"AccessModes": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany}
		}), "accessModes[0]"},
		"Selector": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}), "selector"},
		"Resources": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.Resources.Limits = corev1.ResourceList{"storage": resource.MustParse("5Gi")}
		}), "resources.limits[storage]"},
		"VolumeName":       {set(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeName = "other" }), "volumeName"},
		"StorageClassName": {set(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("") }), "storageClassName"},
		"VolumeMode": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.VolumeMode = ptr.To(corev1.PersistentVolumeBlock)
		}), "volumeMode"},
		"DataSource": {set(func(s *corev1.PersistentVolumeClaimSpec) { s.DataSource = &source }), "dataSource"},
		"DataSourceRef": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "s"}
		}), "dataSourceRef"},
		"VolumeAttributesClassName": {set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.VolumeAttributesClassName = ptr.To("gold")
		}), "volumeAttributesClassName"},
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[corev1.PersistentVolumeClaimSpec]()) {
		tc, known := cases[f.Name]
		if !known {
			t.Errorf("a field that claimDifferences does not know: %s", f.Name)
			continue
		}
		t.Run("W69, Q8: "+f.Name+" counts if the template sets it", func(t *testing.T) {
			wanted := &claimTemplate{PersistentVolumeClaim: &corev1.PersistentVolumeClaim{Spec: tc.want}}
			if diff := cmp.Diff([]string{tc.path}, claimDifferences(wanted, live("data"))); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			same := live("data")
			same.Spec = tc.want
			if got := claimDifferences(wanted, same); len(got) > 0 {
				t.Errorf("the same differs in %q", got)
			}
			before := live("data")
			after := before.DeepCopy()
			claimDifferences(wanted, after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the claim was changed:\n%s", diff)
			}
		})
	}
	t.Run("W69, Q8: meaning counts: the order of access modes, quantities by value, Filesystem as the volume mode of old claims", func(t *testing.T) {
		claim := live("data")
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany, corev1.ReadOnlyMany}
		claim.Spec.VolumeMode = nil
		wanted := &claimTemplate{PersistentVolumeClaim: &corev1.PersistentVolumeClaim{Spec: set(func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany}
			s.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse("1024Mi")}
			s.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
		})}}
		if got := claimDifferences(wanted, claim); len(got) > 0 {
			t.Errorf("differs in %q", got)
		}
	})
}

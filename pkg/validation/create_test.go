/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const dns1035 = "a DNS-1035 label must consist of"

func TestCreateNames(t *testing.T) {
	const leaderName = "spec.replicatedJobs[0].name"
	runCreate(t, plainJobSet, map[string]createCase{
		"a JobSet with all defaults is valid": {},
		"W32: no ReplicatedJobs are valid": {
			mut: func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = nil },
		},
		"W32, Q12: no ReplicatedJobs, and a name that cannot be that of a Service": {
			mut:  func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = nil; js.Name = "1.2" },
			want: []violation{invalid("metadata.name", dns1035)},
		},
		"Q12: a name of 64 characters cannot be that of a Service": {
			mut:  func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = nil; js.Name = strings.Repeat("a", 64) },
			want: []violation{invalid("metadata.name", "will exceed 63 characters")},
		},
		"Q12: the Service has a name of its own": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs, js.Name, js.Spec.Network.Subdomain = nil, "1.2", "other"
			},
		},
		"Q12, W32: there is no Service": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs, js.Name, js.Spec.Network.EnableDNSHostnames = nil, "1.2", ptr.To(false)
			},
		},
		"W43: the product of replicas and parallelism must fit into 32 bits": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[1].Replicas = 1 << 16
				job(js, 1).Parallelism, job(js, 1).Completions = ptr.To[int32](1<<15), ptr.To[int32](1)
			},
			want: []violation{unpathed("the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'workers'")},
		},
		"W43, W140: the largest product is left to the maximum of the JobSet, absent parallelism counts as 1": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[1].Replicas = 1<<31 - 1
				job(js, 1).Parallelism = nil
			},
			want: []violation{invalid("spec.replicatedJobs", "must be at most 1000000 workers")},
		},
		"W44: an empty group name": {
			mut:  func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].GroupName = "" },
			want: []violation{invalid("spec.replicatedJobs[0].groupName", dns1035)},
		},
		"W44: a group name of 64 characters": {
			mut:  func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].GroupName = strings.Repeat("a", 64) },
			want: []violation{invalid("spec.replicatedJobs[0].groupName", ".spec.replicatedJob[].groupName is too long, must be less than 63 characters")},
		},
		"W44: a group name of 63 characters is accepted": {
			mut: func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].GroupName = strings.Repeat("a", 63) },
		},
		"W45: job names must not exceed 63 characters": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, job(js, 0).CompletionMode = strings.Repeat("a", 62), nil
			},
			want: []violation{invalid(leaderName, "job names generated for this JobSet will exceed 63 characters")},
		},
		"W45: a JobSet name with dots": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, job(js, 0).CompletionMode = "a.b", nil
			},
			want: []violation{invalid(leaderName, dns1035)},
		},
		"W45, W46: a JobSet name that starts with a digit breaks both names": {
			mut:  func(js *jobset.JobSet) { leaderOnly(js); js.Name = "1js" },
			want: []violation{invalid(leaderName, dns1035), invalid(leaderName, dns1035)},
		},
		"W45, Q13: zero replicas have the limit of one, here 63": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.Spec.ReplicatedJobs[0].Replicas, job(js, 0).CompletionMode = strings.Repeat("a", 54), 0, nil
			},
		},
		"W45, Q13: zero replicas have the limit of one, here 64": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.Spec.ReplicatedJobs[0].Replicas, job(js, 0).CompletionMode = strings.Repeat("a", 55), 0, nil
			},
			want: []violation{invalid(leaderName, "job names generated")},
		},
		"W46, Q13: zero completions have the limit of one": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name = strings.Repeat("a", 63-len("-leader-0-0-abcde"))
				job(js, 0).Completions, job(js, 0).Parallelism = ptr.To[int32](0), ptr.To[int32](0)
			},
		},
		"W45: the number of replicas counts by its digits": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.Spec.ReplicatedJobs[0].Replicas, job(js, 0).CompletionMode = strings.Repeat("a", 54), 11, nil
			},
			want: []violation{invalid(leaderName, "job names generated")},
		},
		"Q11: a ReplicatedJob whose name is fine inside longer ones and not as a label": {
			mut: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Name, js.Spec.ReplicatedJobs[1].Name = "-a", "b-"
			},
			want: []violation{
				invalid(leaderName, "a valid label must be"),
				invalid("spec.replicatedJobs[1].name", "a valid label must be"),
			},
		},
		"Q11: a ReplicatedJob without a name": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Spec.ReplicatedJobs[0].Name = ""
				job(js, 0).CompletionMode = nil
			},
			want: []violation{required(leaderName, "is part of the names of its Jobs and Pods")},
		},
		"W46: the worked limit, 56 characters pass for Jobs and fail for Pods": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.Spec.ReplicatedJobs[0].Name = strings.Repeat("a", 56), "rj"
			},
			want: []violation{invalid(leaderName, "pod names generated for this JobSet will exceed 63 characters")},
		},
		"W46: without completions the Pod name is not known": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.Spec.ReplicatedJobs[0].Name = strings.Repeat("a", 56), "rj"
				job(js, 0).Completions, job(js, 0).Parallelism = nil, nil
			},
		},
		"W7: generateName stands in for the name, cut and with its suffix": {
			mut: func(js *jobset.JobSet) {
				leaderOnly(js)
				js.Name, js.GenerateName, job(js, 0).CompletionMode = "", strings.Repeat("a", 70), nil
			},
			want: []violation{invalid(leaderName, "job names generated")},
		},
		"W7: a short generateName is valid": {
			mut: func(js *jobset.JobSet) { js.Name, js.GenerateName = "", "js-" },
		},
	})
}

func TestCreateJobSetLevel(t *testing.T) {
	const subdomainPath, managedByPath = "spec.network.subdomain", "spec.managedBy"
	with := func(set func(spec *jobset.JobSetSpec)) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { set(&js.Spec) }
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"O358, W34, W47: dependsOn of the first ReplicatedJob": {
			mut: with(func(s *jobset.JobSetSpec) { s.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{{Name: "workers"}} }),
			want: []violation{
				unpathed("DependsOn can't be set for the first ReplicatedJob"),
				unpathed("replicatedJob: leader cannot depend on replicatedJob: workers"),
			},
		},
		"W34, Q7: an empty dependsOn of the first ReplicatedJob asks for nothing": {
			mut: with(func(s *jobset.JobSetSpec) { s.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{} }),
		},
		"W47: dependsOn of an earlier ReplicatedJob, whatever the status": {
			mut: with(func(s *jobset.JobSetSpec) {
				s.ReplicatedJobs = append(s.ReplicatedJobs, replicatedJob("last", 1, 1))
				s.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "leader", Status: jobset.DependencyReady}}
				s.ReplicatedJobs[2].DependsOn = []jobset.DependsOn{
					{Name: "leader", Status: jobset.DependencyComplete}, {Name: "workers", Status: jobset.DependencyReady}}
			}),
		},
		"startupPolicy InOrder": {
			mut: with(func(s *jobset.JobSetSpec) { s.StartupPolicy.StartupPolicyOrder = jobset.InOrder }),
		},
		"W35, W36: a subdomain with wrong characters breaks both formats": {
			mut:  with(func(s *jobset.JobSetSpec) { s.Network.Subdomain = "A_" }),
			want: []violation{invalid(subdomainPath, "a lowercase RFC 1123 subdomain must consist of"), invalid(subdomainPath, dns1035)},
		},
		"W36: a subdomain with dots is no Service name": {
			mut:  with(func(s *jobset.JobSetSpec) { s.Network.Subdomain = "a.b" }),
			want: []violation{invalid(subdomainPath, dns1035)},
		},
		"W36: a subdomain of 64 characters": {
			mut:  with(func(s *jobset.JobSetSpec) { s.Network.Subdomain = strings.Repeat("a", 64) }),
			want: []violation{invalid(subdomainPath, ".spec.network.subdomain is too long, must be less than 63 characters")},
		},
		"W36: a subdomain of 63 characters is accepted": {
			mut: with(func(s *jobset.JobSetSpec) { s.Network.Subdomain = strings.Repeat("a", 63) }),
		},
		"W35: a subdomain of 254 characters is too long for both": {
			mut:  with(func(s *jobset.JobSetSpec) { s.Network.Subdomain = strings.Repeat("a", 254) }),
			want: []violation{invalid(subdomainPath, "no more than 253"), invalid(subdomainPath, "too long, must be less than 63")},
		},
		"W37: managedBy is present and empty": {
			mut:  with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("") }),
			want: []violation{required(managedByPath, "")},
		},
		"W38: managedBy has no slash": {
			mut:  with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("kueue") }),
			want: []violation{invalid(managedByPath, `must be a domain-prefixed path (such as "acme.io/foo")`)},
		},
		"W39: the domain of managedBy": {
			mut:  with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("A/b") }),
			want: []violation{invalid(managedByPath, "a lowercase RFC 1123 subdomain")},
		},
		"W40: the path of managedBy": {
			mut:  with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("a/b c") }),
			want: []violation{invalid(managedByPath, "Invalid path")},
		},
		"W41: managedBy is too long": {
			mut:  with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("a/" + strings.Repeat("b", 62)) }),
			want: []violation{{field.ErrorTypeTooLong, managedByPath, "may not be more than 63 bytes"}},
		},
		"W38, W41: length and shape are independent": {
			mut: with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To(strings.Repeat("b", 64)) }),
			want: []violation{
				invalid(managedByPath, "must be a domain-prefixed path"),
				{field.ErrorTypeTooLong, managedByPath, "may not be more than 63 bytes"},
			},
		},
		"W41: 63 bytes are accepted": {
			mut: with(func(s *jobset.JobSetSpec) { s.ManagedBy = ptr.To("a/" + strings.Repeat("b", 61)) }),
		},
		"W42: each unknown target of the success policy": {
			mut: with(func(s *jobset.JobSetSpec) {
				s.SuccessPolicy.TargetReplicatedJobs = []string{"x", "leader", "y"}
			}),
			want: []violation{
				unpathed("invalid replicatedJob name 'x' does not appear in .spec.ReplicatedJobs"),
				unpathed("invalid replicatedJob name 'y' does not appear in .spec.ReplicatedJobs"),
			},
		},
		"W47, Q6: dependsOn must name an earlier ReplicatedJob, not a later one and not itself": {
			mut: with(func(s *jobset.JobSetSpec) {
				s.ReplicatedJobs = append(s.ReplicatedJobs, replicatedJob("last", 1, 1))
				s.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "leader"}, {Name: "workers"}, {Name: "last"}}
			}),
			want: []violation{
				unpathed("replicatedJob: workers cannot depend on replicatedJob: workers"),
				unpathed("replicatedJob: workers cannot depend on replicatedJob: last"),
			},
		},
		"Q35: nothing is set at all": {
			mut: func(js *jobset.JobSet) { *js = jobset.JobSet{} },
		},
	})
}

func TestCreateJobTemplates(t *testing.T) {
	const podSpec = "spec.replicatedJobs[1].template.spec.template.spec"
	rules := func(action corev1.ContainerRestartRuleAction, op corev1.ContainerRestartRuleOnExitCodesOperator) []corev1.ContainerRestartRule {
		return []corev1.ContainerRestartRule{{Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: op, Values: []int32{0}}}}
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"Q26: podFailurePolicy needs restartPolicy Never, which is not the default": {
			mut:  func(js *jobset.JobSet) { job(js, 1).PodFailurePolicy = &batchv1.PodFailurePolicy{} },
			want: []violation{invalid(podSpec+".restartPolicy", "set Never")},
		},
		"Q26: podFailurePolicy with restartPolicy Never is accepted": {
			mut: func(js *jobset.JobSet) {
				job(js, 1).PodFailurePolicy = &batchv1.PodFailurePolicy{}
				pod(js, 1).RestartPolicy = corev1.RestartPolicyNever
			},
		},
		"Q26: restartPolicy Always": {
			mut:  func(js *jobset.JobSet) { pod(js, 1).RestartPolicy = corev1.RestartPolicyAlways },
			want: []violation{invalid(podSpec+".restartPolicy", "set OnFailure or Never")},
		},
		"Q26: parallelism without completions": {
			mut:  func(js *jobset.JobSet) { job(js, 1).Completions = nil },
			want: []violation{required("spec.replicatedJobs[1].template.spec.completions", "set completions: 2")},
		},
		"Q26: neither parallelism nor completions is accepted, both become 1": {
			mut: func(js *jobset.JobSet) { job(js, 1).Completions, job(js, 1).Parallelism = nil, nil },
		},
		"Q26: restart rules without a restart policy of the container": {
			mut: func(js *jobset.JobSet) {
				pod(js, 1).Containers[0].RestartPolicyRules = rules("RestartAllContainers", "NotIn")
			},
			want: []violation{required(podSpec+".containers[0].restartPolicy", "restartPolicy: Never")},
		},
		"P43: the old names get the new ones, gate off and without the strategy": {
			mut: func(js *jobset.JobSet) {
				pod(js, 1).InitContainers = []corev1.Container{{
					RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), RestartPolicyRules: rules("RestartPod", "NoIn")}}
				pod(js, 1).Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
				pod(js, 1).Containers[0].RestartPolicyRules = rules("Terminate", "In")
			},
			want: []violation{
				invalid(podSpec+".initContainers[0].restartPolicyRules[0].action", "write action: RestartAllContainers"),
				invalid(podSpec+".initContainers[0].restartPolicyRules[0].exitCodes.operator", "write operator: NotIn"),
				invalid(podSpec+".containers[0].restartPolicyRules[0].action", "podFailurePolicy"),
			},
		},
	})
}

func TestCreateNameValues(t *testing.T) {
	js := plainJobSet()
	js.Name = "1js"
	var shown []any
	for _, err := range Create(js, gateOff) {
		shown = append(shown, err.BadValue)
	}
	t.Run("W45, W46, Q14: the values shown are the names that would be made", func(t *testing.T) {
		want := []any{"1js-leader-0", "1js-workers-1", "1js-leader-0-0-abcde", "1js-workers-1-1-abcde"}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

func TestAllViolationsAtOnce(t *testing.T) {
	t.Run("W2: every rule speaks", func(t *testing.T) {
		js := plainJobSet()
		js.Spec.Network.Subdomain = "a.b"
		js.Spec.ManagedBy = ptr.To("")
		js.Spec.SuccessPolicy.TargetReplicatedJobs = []string{"x"}
		js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: -1}
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "x"}
		job(js, 0).Completions = nil
		expect(t, []violation{
			invalid("spec.failurePolicy.restartStrategy", "cannot be set when InPlaceRestart feature gate is disabled"),
			invalid("spec.network.subdomain", dns1035),
			required("spec.managedBy", ""),
			unpathed("invalid replicatedJob name 'x'"),
			invalid("spec.failurePolicy.maxRestarts", "must be >= 0"),
			unpathed("coordinator replicatedJob x does not exist"),
			required("spec.replicatedJobs[0].template.spec.completions", ""),
		}, Create(js, gateOff))
	})
}

func TestToStatusError(t *testing.T) {
	js := plainJobSet()
	t.Run("no violations are no error", func(t *testing.T) {
		if err := ToStatusError(js, nil); err != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("W3, W4, W5: 422 Invalid with one cause per violation", func(t *testing.T) {
		err := ToStatusError(js, field.ErrorList{plain("one"), field.Required(specPath.Child("managedBy"), "")})
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			t.Fatalf("not a status: %v", err)
		}
		want := metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
			Message: `JobSet.jobset.x-k8s.io "js" is invalid: [<nil>: Internal error: one, spec.managedBy: Required value]`,
			Details: &metav1.StatusDetails{Group: "jobset.x-k8s.io", Kind: "JobSet", Name: "js", Causes: []metav1.StatusCause{
				{Type: "InternalError", Field: "<nil>", Message: "Internal error: one"},
				{Type: metav1.CauseTypeFieldValueRequired, Field: "spec.managedBy", Message: "Required value"},
			}},
		}
		if diff := cmp.Diff(want, status.Status()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
)

// shelf is a reader of claims that records its requests.
type shelf struct {
	client.Reader

	claims map[client.ObjectKey]corev1.PersistentVolumeClaim
	err    error
	asked  []client.ObjectKey
	// pages are the answers to lists.
	pages  []corev1.PersistentVolumeClaimList
	listed []string
	// atMost is how many claims an answer may have; 0 means any number.
	atMost int64
}

func (s *shelf) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(opts)
	s.listed = append(s.listed, fmt.Sprintf("%d of %s after %q", options.Limit, options.Namespace, options.Continue))
	if s.err != nil {
		return s.err
	}
	if s.atMost > 0 && options.Limit > s.atMost {
		return fmt.Errorf("reading: %w", errLongAnswer)
	}
	s.pages[0].DeepCopyInto(list.(*corev1.PersistentVolumeClaimList))
	if len(s.pages) > 1 {
		s.pages = s.pages[1:]
	}
	return nil
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.asked = append(s.asked, key)
	if s.err != nil {
		return s.err
	}
	claim, found := s.claims[key]
	if !found {
		return apierrors.NewNotFound(corev1.Resource("persistentvolumeclaims"), key.Name)
	}
	claim.DeepCopyInto(obj.(*corev1.PersistentVolumeClaim))
	return nil
}

// asks is a validator that looks up one JobSet at a time.
func asks(claims client.Reader) jobSetValidator {
	return jobSetValidator{claims: claims, asking: make(chan struct{}, 1)}
}

const claimManifest = `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js","namespace":"ns"},"spec":{
	"volumeClaimPolicies":[{"retentionPolicy":{"whenDeleted":"Delete"},"templates":[{"metadata":{"name":"data"}}]}],
	"replicatedJobs":[{"name":"w","groupName":"default","template":{"spec":{"completionMode":"Indexed","template":{"spec":{
		"containers":[{"name":"c","volumeMounts":[{"name":"data","mountPath":"/data"}]}]}}}}}]}}`

func TestClaims(t *testing.T) {
	key := client.ObjectKey{Namespace: "ns", Name: "data-js"}
	exists := map[client.ObjectKey]corev1.PersistentVolumeClaim{key: {}}
	create := func(ctx context.Context, s *shelf, object string) admission.Response {
		return admission.WithValidator(scheme(t), asks(s)).Handle(ctx, request(admissionv1.Create, object, ""))
	}
	refused := func(t *testing.T, resp admission.Response, text string) {
		t.Helper()
		if resp.Allowed || !strings.Contains(resp.Result.Message, text) {
			t.Errorf("got %v", resp)
		}
	}
	t.Run("W69, W70: the claims of a new JobSet are looked for in its namespace", func(t *testing.T) {
		s := &shelf{claims: exists}
		refused(t, create(t.Context(), s, claimManifest), "retentionPolicy must be retain when PVC exists")
		if diff := cmp.Diff([]client.ObjectKey{key}, s.asked); diff != "" {
			t.Errorf("asked for (-want +got):\n%s", diff)
		}
	})
	t.Run("W69, W70: a claim that is not there is no matter", func(t *testing.T) {
		if resp := create(t.Context(), &shelf{}, claimManifest); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("W71: a claim that cannot be read is a violation, with the cause", func(t *testing.T) {
		refused(t, create(t.Context(), &shelf{err: errors.New("etcd is tired")}, claimManifest),
			"spec.volumeClaimPolicies[0].templates[0]: Internal error: failed to check for existing PVC data-js: etcd is tired")
	})
	t.Run("W71: when the request is out of time, nobody is asked any more", func(t *testing.T) {
		late, cancel := context.WithCancel(t.Context())
		cancel()
		s := &shelf{claims: exists}
		refused(t, create(late, s, claimManifest), "failed to check for existing PVC data-js: context canceled")
		if len(s.asked) > 0 {
			t.Errorf("asked for %v", s.asked)
		}
	})
	t.Run("W69: a JobSet without claims asks for none, and neither does an update", func(t *testing.T) {
		s := &shelf{claims: exists}
		if resp := create(t.Context(), s, manifest); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
		hook := admission.WithValidator(scheme(t), asks(s))
		if resp := hook.Handle(t.Context(), request(admissionv1.Update, claimManifest, claimManifest)); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
		if len(s.asked) > 0 {
			t.Errorf("asked for %v", s.asked)
		}
	})
}

func TestManyClaimsAreListed(t *testing.T) {
	page := func(next string, names ...string) corev1.PersistentVolumeClaimList {
		list := corev1.PersistentVolumeClaimList{ListMeta: metav1.ListMeta{Continue: next}}
		for _, name := range names {
			list.Items = append(list.Items, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}})
		}
		return list
	}
	js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "js", Namespace: "ns"}}
	templates := make([]corev1.PersistentVolumeClaim, claimsByName+1)
	for i := range templates {
		templates[i].Name = fmt.Sprintf("c%d", i)
	}
	js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: templates}}

	t.Run("W69a: list by list, and not one by one", func(t *testing.T) {
		s := &shelf{pages: []corev1.PersistentVolumeClaimList{page("next", "a", "c3-js"), page("", "c10-js")}}
		found, all := findClaims(t.Context(), s, js)
		if len(found) != 2 || found["c3-js"].Claim == nil || found["c10-js"].Claim == nil || !all || len(s.asked) > 0 {
			t.Errorf("found %v, all %t, asked for %v", found, all, s.asked)
		}
		if diff := cmp.Diff([]string{`250 of ns after ""`, `250 of ns after "next"`}, s.listed); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
	})
	t.Run("W69a: up to a number of lists; what these have is compared, and the JobSet is not refused for the rest", func(t *testing.T) {
		s := &shelf{pages: []corev1.PersistentVolumeClaimList{page("more", "c3-js"), page("more")}}
		found, all := findClaims(t.Context(), s, js)
		if found["c3-js"].Claim == nil || len(found) != 1 || all || len(s.listed) != maxClaimLists {
			t.Errorf("found %v, all %t, after %d lists", found, all, len(s.listed))
		}
		warnings, errs := asks(&shelf{pages: []corev1.PersistentVolumeClaimList{page("more")}}).ask(t.Context(), js)
		if len(errs) > 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "was not compared with all PersistentVolumeClaims that exist, because the namespace has too many") {
			t.Errorf("warnings %v, errors %v", warnings, errs)
		}
	})
	t.Run("W69a: large claims come in shorter lists, of one at last", func(t *testing.T) {
		s := &shelf{pages: []corev1.PersistentVolumeClaimList{page("next"), page("", "c10-js")}, atMost: 1}
		found, all := findClaims(t.Context(), s, js)
		if found["c10-js"].Claim == nil || !all {
			t.Errorf("found %v, all %t", found, all)
		}
		want := []string{`250 of ns after ""`, `62 of ns after ""`, `15 of ns after ""`, `3 of ns after ""`, `1 of ns after ""`, `1 of ns after "next"`}
		if diff := cmp.Diff(want, s.listed); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
	})
	t.Run("W69a: an answer that is too long is known as one through the client", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, maxAnswer+1))
		}))
		t.Cleanup(server.Close)
		known := scheme(t)
		if err := corev1.AddToScheme(known); err != nil {
			t.Fatal(err)
		}
		kinds := meta.NewDefaultRESTMapper(nil)
		kinds.Add(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), meta.RESTScopeNamespace)
		reader, err := client.New(&rest.Config{Host: server.URL, WrapTransport: func(inner http.RoundTripper) http.RoundTripper { return shortAnswers{inner} }},
			client.Options{Scheme: known, Mapper: kinds})
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.List(t.Context(), &corev1.PersistentVolumeClaimList{}); !errors.Is(err, errLongAnswer) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("W71: a failure is reported once", func(t *testing.T) {
		s := &shelf{err: errors.New("etcd is tired")}
		found, _ := findClaims(t.Context(), s, js)
		if errs := validation.ExistingClaims(js, found); len(errs) != 1 || !strings.Contains(errs[0].Error(), "etcd is tired") {
			t.Errorf("errors %v", errs)
		}
	})
	t.Run("W71: not once the request is out of time", func(t *testing.T) {
		late, cancel := context.WithCancel(t.Context())
		cancel()
		s := &shelf{}
		if found, _ := findClaims(late, s, js); !errors.Is(found["c0-js"].Err, context.Canceled) || len(s.listed) > 0 {
			t.Errorf("found %v, lists %v", found, s.listed)
		}
	})
	t.Run("W69a: not if anything else is wrong", func(t *testing.T) {
		wrong := strings.Replace(claimManifest, `"mountPath":"/data"`, `"mountPath":""`, 1)
		wrong = strings.Replace(wrong, `"name":"data","mountPath"`, `"name":"other","mountPath"`, 1)
		s := &shelf{}
		resp := admission.WithValidator(scheme(t), asks(s)).Handle(t.Context(), request(admissionv1.Create, wrong, ""))
		if resp.Allowed || len(s.asked)+len(s.listed) > 0 {
			t.Errorf("got %v, asked for %v, %v", resp, s.asked, s.listed)
		}
	})
}

func TestFewLookUpsAtOnce(t *testing.T) {
	js, manyClaims := &jobset.JobSet{}, &shelf{err: errors.New("nobody answers")}
	if err := admission.NewDecoder(scheme(t)).DecodeRaw(request(admissionv1.Create, claimManifest, "").Object, js); err != nil {
		t.Fatal(err)
	}
	full := asks(manyClaims)
	full.asking <- struct{}{}
	t.Run("W69b: one too many is admitted without, with a warning", func(t *testing.T) {
		resp := admission.WithValidator(scheme(t), full).Handle(t.Context(), request(admissionv1.Create, claimManifest, ""))
		if !resp.Allowed || len(manyClaims.asked) > 0 ||
			!slices.ContainsFunc(resp.Warnings, func(w string) bool { return strings.Contains(w, "because many JobSets are checked at once") }) {
			t.Errorf("got %v, asked for %v", resp, manyClaims.asked)
		}
	})
	t.Run("W69b: an update waits for none", func(t *testing.T) {
		if resp := admission.WithValidator(scheme(t), full).Handle(t.Context(), request(admissionv1.Update, claimManifest, claimManifest)); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("W69b: they leave room for what asks nothing", func(t *testing.T) {
		if askingAtOnce >= jobSetsAtOnce {
			t.Errorf("%d of %d requests may ask", askingAtOnce, jobSetsAtOnce)
		}
	})
	t.Run("W69b: one that is done leaves its place", func(t *testing.T) {
		<-full.asking
		for range 2 {
			if _, errs := full.ask(t.Context(), js); len(errs) != 1 {
				t.Errorf("errors %v, want that of the look-up", errs)
			}
		}
	})
}

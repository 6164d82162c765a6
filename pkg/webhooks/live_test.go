/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type answers []byte

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(bytes.NewReader(a))}, nil
}

func TestAnswersAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		bytes int
		want  error
	}{
		"O77a: an answer that fits": {maxAnswer, nil},
		"O77a: one that does not":   {maxAnswer + 1, errLongAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := shortAnswers{make(answers, tc.bytes)}.RoundTrip(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(response.Body); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

// judge allows what a user "good" asks, and counts.
type judge struct {
	client.Writer

	asked int
	err   error
}

func (j *judge) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	j.asked++
	review := obj.(*authorizationv1.SubjectAccessReview)
	review.Status.Allowed = review.Spec.User == "good"
	return j.err
}

func TestReviewsAreRemembered(t *testing.T) {
	j := &judge{}
	known := newReviews(j)
	ask := func(user string) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user}}
		err := known.Create(t.Context(), review)
		return review.Status.Allowed, err
	}
	for range 3 {
		if allowed, err := ask("good"); !allowed || err != nil {
			t.Fatalf("O77a: allowed %t, %v", allowed, err)
		}
		if allowed, err := ask("bad"); allowed || err != nil {
			t.Fatalf("O77a: allowed %t, %v", allowed, err)
		}
	}
	if j.asked != 2 {
		t.Errorf("O77a: asked %d times, want once for each user", j.asked)
	}
	j.err = errors.New("down")
	for range 2 {
		if _, err := ask("new"); !errors.Is(err, j.err) {
			t.Errorf("O77a: error %v", err)
		}
	}
	if j.asked != 4 {
		t.Errorf("O77a: asked %d times: an error was remembered", j.asked)
	}
	if known.Create(t.Context(), &corev1.Pod{}) == nil {
		t.Error("O77a: a Pod was created")
	}
}

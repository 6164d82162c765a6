/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/util/bounded"
)

// Admission asks the API server with a client of its own, because whoever may create a JobSet, or reaches the port,
// decides what it asks (O77a).

// maxAnswer bounds each answer of the API server, in bytes: who fills a namespace with large claims fills no memory here.
const maxAnswer = 2 << 20

// newLive returns a client that reads past the cache, with its own connections and limit.
func newLive(mgr ctrl.Manager) (client.Client, error) {
	shared := mgr.GetConfig()
	own := bounded.Separate(shared, shared.QPS, shared.Burst)
	own.Wrap(func(inner http.RoundTripper) http.RoundTripper { return shortAnswers{inner} })
	return client.New(own, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
}

type shortAnswers struct{ http.RoundTripper }

// RoundTrip returns a response whose body fails after maxAnswer bytes.
func (s shortAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &shortBody{ReadCloser: response.Body, left: maxAnswer}
	}
	return response, err
}

type shortBody struct {
	io.ReadCloser

	left int
}

var errLongAnswer = errors.New("the answer of the API server has more than 2 MiB")

func (b *shortBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errLongAnswer
	}
	return n, err
}

const (
	keptReviews    = 1024
	reviewsHoldFor = 30 * time.Second
)

// reviews remembers for a short time what accounts may do: many JobSets use the same account.
type reviews struct {
	client.Writer

	known *cache.LRUExpireCache
}

func newReviews(writer client.Writer) *reviews {
	return &reviews{Writer: writer, known: cache.NewLRUExpireCache(keptReviews)}
}

// Create fills in the status of a SubjectAccessReview.
func (r *reviews) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	review, ok := obj.(*authorizationv1.SubjectAccessReview)
	if !ok {
		return fmt.Errorf("creating a %T: only reviews of access are created here", obj)
	}
	text, err := json.Marshal(review.Spec)
	if err != nil {
		return fmt.Errorf("encoding a review of access: %w", err)
	}
	key := string(text)
	if status, found := r.known.Get(key); found {
		review.Status = status.(authorizationv1.SubjectAccessReviewStatus)
		return nil
	}
	if err := r.Writer.Create(ctx, review, opts...); err != nil {
		return err
	}
	r.known.Add(key, review.Status, reviewsHoldFor)
	return nil
}

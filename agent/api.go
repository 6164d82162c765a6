/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const (
	fieldManager   = "jobset-agent"
	acceptJSON     = "application/json"
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	mergePatch     = "application/merge-patch+json"

	// errorBodyLimit bounds what is read of an answer that is an error.
	errorBodyLimit = 64 << 10
	// drainLimit bounds what is read of an answer nobody wants, so that an HTTP/1 connection can be used again.
	drainLimit = 256 << 10
)

// api speaks the three requests of an agent: watch and list of one JobSet, patch of one Pod.
type api struct {
	client  *http.Client
	jobSets string
	pod     string
}

// newAPI takes from client-go what is hard to get right (credentials that rotate, TLS,
// HTTP/2 with pings on idle connections) and leaves its codecs and discovery alone.
func newAPI(config *rest.Config, cfg Config) (*api, error) {
	config = rest.CopyConfig(config)
	// A timeout of the client would cut the watch; each request brings its own.
	config.Timeout = 0
	if config.UserAgent == "" {
		config.UserAgent = fieldManager
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, unusable(err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, unusable(err)
	}
	root := strings.TrimSuffix(base.String(), "/")
	namespace := "/namespaces/" + url.PathEscape(cfg.Namespace)
	return &api{
		client:  client,
		jobSets: root + "/apis/" + jobSetGroupVersion + namespace + "/jobsets",
		pod:     root + "/api/v1" + namespace + "/pods/" + url.PathEscape(cfg.PodName),
	}, nil
}

// unusable: the credentials or the address cannot even be tried, and a restart would not change them.
func unusable(err error) error {
	return &SettingError{
		Setting: "the connection to the API server", Problem: fmt.Sprintf("cannot be prepared: %v", err),
		Fix: "correct the file in " + envKubeconfig + ", or the Pod's service account",
	}
}

// statusError is an answer of the API server, or an event of a watch, that says no.
type statusError struct {
	code       int
	reason     string
	message    string
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("API server answered %d %s: %s", e.code, e.reason, e.message)
}

// hasCode says whether an error is one of these answers of the API server.
func hasCode(err error, codes ...int) bool {
	var status *statusError
	if !errors.As(err, &status) {
		return false
	}
	for _, code := range codes {
		if status.code == code {
			return true
		}
	}
	return false
}

// get asks for the JobSets that the query selects. The caller closes the body.
func (a *api) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	return a.do(ctx, http.MethodGet, a.jobSets+"?"+query.Encode(), acceptJSON, nil)
}

// patchEpoch reports an epoch on the Pod.
func (a *api) patchEpoch(ctx context.Context, epoch int32) error {
	patch, err := epochPatch(epoch)
	if err != nil {
		return fmt.Errorf("encoding epoch %d: %w", epoch, err)
	}
	query := url.Values{"fieldManager": {fieldManager}}
	// Of the answer nothing is read, so let it be small: metadata instead of the whole Pod.
	body, err := a.do(ctx, http.MethodPatch, a.pod+"?"+query.Encode(), acceptMetadata, patch)
	if err != nil {
		return err
	}
	// The patch is done, whatever happens to the rest of the answer.
	_, _ = io.CopyN(io.Discard, body, drainLimit)
	_ = body.Close()
	return nil
}

func (a *api) do(ctx context.Context, method, address, accept string, body []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("building request: %w", err)
	}
	request.Header.Set("Accept", accept)
	if body != nil {
		request.Header.Set("Content-Type", mergePatch)
	}
	response, err := a.client.Do(request)
	if err != nil {
		// Without the URL, whose query differs from one attempt to the next, while a log
		// that tells each error once goes by the text.
		var detail *url.Error
		if errors.As(err, &detail) {
			err = detail.Err
		}
		return nil, fmt.Errorf("%s %s: %w", method, request.URL.Path, err)
	}
	if response.StatusCode/100 != 2 {
		defer func() { _ = response.Body.Close() }()
		return nil, readStatus(response)
	}
	return response.Body, nil
}

// readStatus makes an error of an answer. Whatever stands between agent and API server
// may have written it, so nothing but the code is relied on.
func readStatus(response *http.Response) *statusError {
	text, _ := io.ReadAll(io.LimitReader(response.Body, errorBodyLimit))
	var status wireStatus
	if err := json.Unmarshal(text, &status); err != nil || status.Message == "" {
		status.Message = strings.TrimSpace(string(text[:min(len(text), 200)]))
	}
	if status.Reason == "" {
		status.Reason = http.StatusText(response.StatusCode)
	}
	result := &statusError{
		code:       response.StatusCode,
		reason:     status.Reason,
		message:    status.Message,
		retryAfter: status.retryAfter(),
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		result.retryAfter = max(result.retryAfter, time.Duration(seconds)*time.Second)
	}
	return result
}

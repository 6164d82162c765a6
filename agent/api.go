/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/supervisor/setting"
)

const (
	fieldManager   = "jobset-agent"
	acceptJSON     = "application/json"
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	mergePatch     = "application/merge-patch+json"

	// errorBodyLimit bounds how much of an error response is read.
	errorBodyLimit = 64 << 10
	// drainLimit bounds how much of the response to a report is read.
	drainLimit = 256 << 10
)

// api makes the requests of an agent: watch and list one JobSet, and patch one Pod; see lease.go for another place to report.
type api struct {
	client  *http.Client
	jobSets string
	pod     string
	leases  string
	// timeout is that of each report, one by one: a Lease that is not answered must leave its Pod the time to be (P154).
	timeout time.Duration
}

// newAPI uses the parts of client-go that are hard to get right (credentials that rotate, TLS,
// HTTP/2 with pings on idle connections), but not its codecs and discovery.
func newAPI(config *rest.Config, cfg Config, timeout time.Duration) (*api, error) {
	config = rest.CopyConfig(config)
	// A timeout of the client would end the watch; each request has its own.
	config.Timeout = 0
	config.UserAgent = cmp.Or(config.UserAgent, fieldManager)
	client, err := rest.HTTPClientFor(config)
	base, _, wrong := rest.DefaultServerUrlFor(config)
	if err = cmp.Or(err, wrong); err != nil { // not even to be tried: a restart would not help
		return nil, &setting.Error{
			Setting: "the connection to the API server", Problem: fmt.Sprintf("cannot be prepared: %v", err),
			Fix: "correct the file in " + envKubeconfig + ", or the Pod's service account",
		}
	}
	root := strings.TrimSuffix(base.String(), "/")
	namespace := "/namespaces/" + url.PathEscape(cfg.Namespace)
	return &api{
		client:  client,
		jobSets: root + "/apis/" + jobSetGroupVersion + namespace + "/jobsets",
		pod:     root + "/api/v1" + namespace + "/pods/" + url.PathEscape(cfg.PodName),
		leases:  root + "/apis/" + leaseGroupVersion + namespace + "/leases",
		timeout: timeout,
	}, nil
}

// statusError is an error response of the API server, or an ERROR event of a watch.
type statusError struct {
	code       int
	reason     string
	message    string
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return fmt.Sprintf("API server answered %d %s: %s", e.code, e.reason, e.message)
}

// hasCode reports whether an error is a response of the API server with one of these codes.
func hasCode(err error, codes ...int) bool {
	var status *statusError
	return errors.As(err, &status) && slices.Contains(codes, status.code)
}

// get requests the JobSets that the query selects. The caller closes the body.
func (a *api) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	return a.do(ctx, http.MethodGet, a.jobSets+"?"+query.Encode(), acceptJSON, nil)
}

// patch reports on the Pod what is said. It returns the UID of the Pod's JobSet, from the label
// of the Pod, or "" if the response has none.
func (a *api) patch(ctx context.Context, says statement) (jobSetUID string, err error) {
	patch, err := says.patch()
	if err != nil {
		return "", fmt.Errorf("encoding the report of epoch %d: %w", says.epoch, err)
	}
	return a.write(ctx, http.MethodPatch, a.pod, patch)
}

// write changes or creates an object, and returns the UID of a JobSet in its label.
func (a *api) write(ctx context.Context, method, address string, body []byte) (jobSetUID string, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	// Little of the response is needed, so ask for the metadata instead of the whole object.
	response, err := a.do(ctx, method, address+"?fieldManager="+fieldManager, acceptMetadata, body)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Close() }()
	// The request has succeeded, whatever happens to the rest of the response.
	var written wirePod
	answer := io.LimitReader(response, drainLimit)
	_ = json.NewDecoder(answer).Decode(&written)
	_, _ = io.Copy(io.Discard, answer)
	return written.Metadata.Labels[jobSetUIDKey], nil
}

func (a *api) do(ctx context.Context, method, address, accept string, body []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("building request: %w", err)
	}
	request.Header.Set("Accept", accept)
	switch method {
	case http.MethodPatch:
		request.Header.Set("Content-Type", mergePatch)
	case http.MethodPost:
		request.Header.Set("Content-Type", acceptJSON)
	}
	response, err := a.client.Do(request)
	if err != nil {
		// Leave out the URL: its query differs between attempts, and retryLog recognizes a
		// repeated error by its text.
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

// readStatus turns a response into an error. A proxy between agent and API server may have
// written it, so only the code is relied on.
func readStatus(response *http.Response) *statusError {
	text, _ := io.ReadAll(io.LimitReader(response.Body, errorBodyLimit))
	var status wireStatus
	if err := json.Unmarshal(text, &status); err != nil || status.Message == "" {
		status.Message = strings.TrimSpace(string(text[:min(len(text), 200)]))
	}
	status.Reason = cmp.Or(status.Reason, http.StatusText(response.StatusCode))
	status.Code = response.StatusCode
	result := status.asError()
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		result.retryAfter = max(result.retryAfter, time.Duration(seconds)*time.Second)
	}
	return result
}

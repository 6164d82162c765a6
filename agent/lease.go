/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// In a large group an agent reports in a Lease of its own instead of its Pod (P151): the API server spends a fraction on it.
// The protocol stays as it is, since the manager reads both (P152).

const leaseGroupVersion = "coordination.k8s.io/v1"

// leasePlace is the Lease in which an agent reports.
type leasePlace struct {
	api *api
	// name is its own, pod and podUID are its only owner, jobSetUID is its label.
	name, pod, podUID, jobSetUID string

	mu sync.Mutex
	// refused is why the last report was refused in the Lease, "" if it was not.
	refused string
}

// changed notes why a report is refused in the Lease, and reports whether that is not what was noted before. A report that is
// refused on the Pod, too, is tried again and again, and says so once (P36).
func (l *leasePlace) changed(refused string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.refused
	l.refused = refused
	return refused != before
}

// newLeasePlace returns nil for an agent that reports on its Pod.
func newLeasePlace(a *api, cfg Config) *leasePlace {
	if !cfg.ReportsInLease {
		return nil
	}
	return &leasePlace{api: a, name: protocol.LeasePrefix + cfg.PodName, pod: cfg.PodName, podUID: cfg.PodUID, jobSetUID: cfg.JobSetUID}
}

// write reports in the Lease. Other than a Pod, the Lease may have to be created, or may have been deleted. A Lease of this name
// that is somebody else's is not taken for ours: owner and label are written with each report, and the admission policy refuses that.
func (l *leasePlace) write(ctx context.Context, says statement) error {
	annotations, err := says.annotations()
	if err != nil {
		return fmt.Errorf("encoding the report of epoch %d: %w", says.epoch, err)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": leaseGroupVersion, "kind": "Lease",
		"metadata": map[string]any{
			"name": l.name, "labels": map[string]string{jobSetUIDKey: l.jobSetUID}, "annotations": annotations,
			"ownerReferences": []map[string]string{{"apiVersion": "v1", "kind": "Pod", "name": l.pod, "uid": l.podUID}},
		},
	})
	if err != nil {
		return fmt.Errorf("encoding the report of epoch %d: %w", says.epoch, err)
	}
	if err = l.send(ctx, http.MethodPatch, body); !hasCode(err, http.StatusNotFound) {
		return err
	}
	if err = l.send(ctx, http.MethodPost, body); !hasCode(err, http.StatusConflict) {
		return err
	}
	return l.send(ctx, http.MethodPatch, body) // somebody created it meanwhile: an earlier request of ours, mostly
}

func (l *leasePlace) send(ctx context.Context, method string, body []byte) error {
	address := l.api.leases
	if method == http.MethodPatch {
		address += "/" + url.PathEscape(l.name)
	}
	_, err := l.api.write(ctx, method, address, body)
	return err
}

// refusesLease reports whether trying again would not help: then the report goes to the Pod at once. A webhook that does not
// respond is an error of the server, but perhaps for Leases alone.
func refusesLease(err error) bool {
	return strings.Contains(err.Error(), byDeadWebhook) || hasCode(err, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity)
}

// write reports where the group's agents report. It returns what the answer tells of the owner of the Pod.
//
// That all workers have finished, and that the Pod must be replaced, is told on the Pod: once in its life, and then no Lease
// that is not seen yet can make a success look like a loss.
func (r *reporter) write(ctx context.Context, says statement) (jobSetUID string, err error) {
	if r.lease == nil || says.isLast() {
		return r.api.patch(ctx, says)
	}
	err = r.lease.write(ctx, says)
	if err == nil {
		r.lease.changed("")
	}
	switch {
	case says.where == inBoth, says.where == anywhere: // whatever the Lease's answer was: the Pod's may be another
	case err == nil:
		return "", nil
	case !refusesLease(err):
		return "", err
	case r.lease.changed(err.Error()):
		r.log.Warn("the report in the Lease was refused, so it goes to the Pod; the Lease is tried again with the next report", "epoch", says.epoch, "error", err,
			"fix", remedy(inLeases, err))
	}
	jobSetUID, podErr := r.api.patch(ctx, says)
	if says.where == anywhere && err == nil {
		return jobSetUID, nil
	}
	return jobSetUID, podErr
}

// where is where a report goes.
type where int

const (
	// inLease if the agent reports in one, else on the Pod.
	inLease where = iota
	// inBoth is for the first repeat: a manager of an earlier version does not read Leases (P154).
	inBoth
	// anywhere is for what was not accepted until the first repeat is due: it goes to both places, and one of them is enough.
	anywhere
)

// isLast reports whether a statement ends the reports of a Pod.
func (s statement) isLast() bool {
	return s.epoch == 0 || s.exit != nil && (s.exit.Done || s.exit.Leave != "")
}

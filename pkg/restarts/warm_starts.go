/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Starts is how the workers of an epoch were started, with warm start (P165).
type Starts struct {
	Warm int `json:"warm"`
	Cold int `json:"cold"`
	// WarmSeconds and ColdSeconds are how long the last of each took to its first sign; nil if none gave one.
	WarmSeconds *float64 `json:"warmSeconds,omitempty"`
	ColdSeconds *float64 `json:"coldSeconds,omitempty"`
}

// readStarts adds to each restart how its workers started, which the end of the next one tells. It returns those of all
// epochs, the first start too.
func (h history) readStarts(events []corev1.Event) (all []Starts) {
	for i := range events {
		parts := startsMessage.FindStringSubmatch(events[i].Message)
		if events[i].Reason != constants.InPlaceRestartCompletedReason || parts == nil {
			continue
		}
		starts := Starts{WarmSeconds: seconds(parts[3]), ColdSeconds: seconds(parts[5])}
		starts.Warm, _ = strconv.Atoi(parts[2])
		starts.Cold, _ = strconv.Atoi(parts[4])
		all = append(all, starts)
		for r := range h {
			if h[r].Kind == InPlace && h[r].Epoch > 0 && h[r].Epoch == epochIn(parts[1])-1 {
				h[r].Starts = &starts
			}
		}
	}
	return all
}

func seconds(text string) *float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &value
}

// explainStarts says what warm start saves in this JobSet: the mean of cold starts less that of warm ones.
func (r *Report) explainStarts(all []Starts) {
	mean := func(of func(Starts) *float64) (sum float64, n int) {
		for _, s := range all {
			if value := of(s); value != nil {
				sum, n = sum+*value, n+1
			}
		}
		return sum / float64(max(n, 1)), n
	}
	warm, warmly := mean(func(s Starts) *float64 { return s.WarmSeconds })
	cold, coldly := mean(func(s Starts) *float64 { return s.ColdSeconds })
	if warmly > 0 && coldly > 0 {
		r.note("a warm start takes %.1f s to the last first sign, a cold one %.1f s: warm start saves %.1f s of each restart", warm, cold, cold-warm)
	}
}

// explainStandbys names standbys that ended before their gate, since only the author of a program can help that.
func (r *Report) explainStandbys(pods []corev1.Pod) {
	const most = 5
	told := 0
	for i := range pods {
		report, err := protocol.ParseProgressReport(pods[i].Annotations[jobset.ProgressKey])
		if err != nil || report.Warm == nil || report.Warm.Early == 0 && !report.Warm.Off {
			continue
		}
		if told++; told > most {
			continue
		}
		switch {
		case report.Warm.Early == 0:
			r.note("Pod %s starts no standby: one existed when its container was killed, most likely for its memory", pods[i].Name)
		case report.Warm.Off:
			r.note("%d standbys of Pod %s ended before their gate, the last with exit code %d: none is started there any more", report.Warm.Early, pods[i].Name, report.Warm.Code)
		default:
			r.note("a standby of Pod %s ended before its gate with exit code %d", pods[i].Name, report.Warm.Code)
		}
	}
	if told > most {
		r.note("standbys of %d more Pods ended before their gate", told-most)
	}
}

// text is what the table of restarts says.
func (s *Starts) text() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%d warm, %d cold", s.Warm, s.Cold)
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// explainStarts says what warm start saves in this JobSet: the mean of cold starts less that of warm ones.
func (r *Report) explainStarts() {
	mean := func(of func(*jobset.RestartStarts) *metav1.Duration) (sum float64, n int) {
		for i := range r.LastRestarts {
			if s := r.LastRestarts[i].Starts; s != nil && of(s) != nil {
				sum, n = sum+of(s).Seconds(), n+1
			}
		}
		return sum / float64(max(n, 1)), n
	}
	warm, warmly := mean(func(s *jobset.RestartStarts) *metav1.Duration { return s.WarmSign })
	cold, coldly := mean(func(s *jobset.RestartStarts) *metav1.Duration { return s.ColdSign })
	if warmly > 0 && coldly > 0 {
		r.Notes.Add("a warm start takes %.1f s to the last first sign, a cold one %.1f s: warm start saves %.1f s of each restart", warm, cold, cold-warm)
	}
}

// explainStandbys names standbys that ended before their gate, since only the author of a program can help that.
func (r *Report) explainStandbys(in *Input) {
	const most = 5
	told := 0
	for i := range in.Pods {
		pod := &in.Pods[i]
		report := in.Member(pod).Progress
		if report == nil || report.Warm == nil || report.Warm.Early == 0 && !report.Warm.Off {
			continue
		}
		if told++; told > most {
			continue
		}
		switch {
		case report.Warm.Early == 0:
			r.Notes.Add("Pod %s starts no standby: one existed when its container was killed, most likely for its memory", pod.Name)
		case report.Warm.Off:
			r.Notes.Add("%d standbys of Pod %s ended before their gate, the last with exit code %d: none is started there any more", report.Warm.Early, pod.Name, report.Warm.Code)
		default:
			r.Notes.Add("a standby of Pod %s ended before its gate with exit code %d", pod.Name, report.Warm.Code)
		}
	}
	if told > most {
		r.Notes.Add("standbys of %d more Pods ended before their gate", told-most)
	}
}

// startsText is what the table of restarts says.
func startsText(s *jobset.RestartStarts) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%d warm, %d cold", s.Warm, s.Cold)
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/restarts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// apiServer answers by path and records the requests.
type apiServer struct {
	answers map[string]func(http.ResponseWriter)

	mu    sync.Mutex
	asked []string
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	selectors := r.URL.Query().Get("labelSelector") + r.URL.Query().Get("fieldSelector")
	s.asked = append(s.asked, strings.TrimSuffix(r.URL.Path+" "+selectors, " "))
	if answer, ok := s.answers[r.URL.Path]; ok {
		answer(w)
		return
	}
	http.NotFound(w, r) // as an API server does for a path that it does not know
}

func object(value any) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
}

func refuse(code int, reason, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code})
	}
}

func emptyList(apiVersion, kind string) func(http.ResponseWriter) {
	return object(map[string]any{"apiVersion": apiVersion, "kind": kind, "items": []any{}})
}

const (
	jobSetPath  = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/research/jobsets/train"
	jobSetsPath = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/research/jobsets"
	jobsPath    = "/apis/batch/v1/namespaces/research/jobs"
	podsPath    = "/api/v1/namespaces/research/pods"
	eventsPath  = "/api/v1/namespaces/research/events"
	leasesPath  = "/apis/coordination.k8s.io/v1/namespaces/research/leases"
)

// serving returns a server with JobSet research/train, which has no Jobs, and the given changes.
func serving(strategy jobset.JobSetRestartStrategy, changes map[string]func(http.ResponseWriter)) *apiServer {
	js := builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(strategy, 3).Epochs(0, 1).Obj()
	s := &apiServer{answers: map[string]func(http.ResponseWriter){
		jobSetPath: object(js), jobSetsPath: object(map[string]any{"items": []any{js}}),
		jobsPath: emptyList("batch/v1", "JobList"), podsPath: emptyList("v1", "PodList"), eventsPath: emptyList("v1", "EventList"),
	}}
	for path, answer := range changes {
		s.answers[path] = answer
		if answer == nil {
			delete(s.answers, path)
		}
	}
	return s
}

// kubectlJobSet runs the plugin against a server, in namespace research.
func kubectlJobSet(t *testing.T, s *apiServer, args ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: research}}]
users: [{name: u}]
`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	root := newRoot(streams)
	root.SetArgs(append(args, "--kubeconfig="+kubeconfig))
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

func TestAReportTakesFourRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		strategy jobset.JobSetRestartStrategy
		want     []string
	}{
		"JobSet, Jobs, Pods and events of a group": {jobset.InPlaceRestart, []string{jobSetPath, jobsPath + " jobset.sigs.k8s.io/jobset-name=train",
			podsPath + " jobset.sigs.k8s.io/jobset-name=train", eventsPath + " involvedObject.uid=train-uid"}},
		"no Pods with another strategy": {jobset.Recreate, []string{jobSetPath, jobsPath + " jobset.sigs.k8s.io/jobset-name=train", eventsPath + " involvedObject.uid=train-uid"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serving(tc.strategy, nil)
			if _, err := kubectlJobSet(t, s, "restarts", "train"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsForbiddenIsLeftOut(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		eventsPath: "events could not be read, so what they report about agents and Services is missing here: not for you",
		podsPath:   "Pods could not be read, so the workers are missing here: not for you",
		jobsPath:   "Jobs could not be read, so they and their workers are missing here: not for you",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){path: refuse(http.StatusForbidden, "Forbidden", "not for you")})
			out, err := kubectlJobSet(t, s, "restarts", "train")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out, "running at epoch 1") || !strings.Contains(out, want) {
				t.Errorf("no %q in:\n%s", want, out)
			}
		})
	}
}

// leasedGroup serves two workers of JobSet research/train. The agents report in Leases, and one of them is back in epoch 2.
func leasedGroup(leases func(http.ResponseWriter)) *apiServer {
	js := builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(1, 1).
		ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	job := builders.MakeJob(js, "w", 0).Workers(2).Obj()
	pods, items := make([]corev1.Pod, 2), make([]coordinationv1.Lease, 1)
	for i := range pods {
		pods[i] = *builders.MakePod(job, i).Epoch("1").Phase(corev1.PodRunning).Obj()
		pods[i].Spec.NodeName = "n"
		pods[i].Spec.InitContainers = []corev1.Container{{Name: "jobset-agent", Env: []corev1.EnvVar{{Name: "JOBSET_REPORTS", Value: "Lease"}}}}
	}
	items[0].Name, items[0].Namespace, items[0].Annotations = "jobset."+pods[0].Name, "research", map[string]string{jobset.EpochKey: "2"}
	items[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pods[0].Name, UID: pods[0].UID}}
	list := func(apiVersion, kind string, items any) func(http.ResponseWriter) {
		return object(map[string]any{"apiVersion": apiVersion, "kind": kind, "items": items})
	}
	if leases == nil {
		leases = list("coordination.k8s.io/v1", "LeaseList", items)
	}
	return serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){
		jobSetPath: object(js), jobsPath: list("batch/v1", "JobList", []any{job}), podsPath: list("v1", "PodList", pods), leasesPath: leases,
	})
}

func TestEpochsInLeases(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		leases func(http.ResponseWriter)
		want   string
	}{
		"P157: are those of the workers":            {nil, "1 of 2 not back"},
		"P157: that may not be read are said to be": {refuse(http.StatusForbidden, "Forbidden", "not for you"), "Leases could not be read, so workers whose agents report in them may look as if they were not back: not for you"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := leasedGroup(tc.leases)
			out, err := kubectlJobSet(t, s, "restarts", "train")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out, tc.want) {
				t.Errorf("no %q in:\n%s", tc.want, out)
			}
			if want := leasesPath + " jobset.sigs.k8s.io/jobset-uid=train-uid"; !slices.Contains(s.asked, want) {
				t.Errorf("no %q among %q", want, s.asked)
			}
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	type answers = map[string]func(http.ResponseWriter)
	broken := refuse(http.StatusInternalServerError, "InternalError", "broken")
	tests := map[string]struct {
		answers answers
		args    []string
		want    string
	}{
		"There is no such JobSet": {answers{jobSetPath: refuse(http.StatusNotFound, "NotFound", `jobsets "train" not found`)},
			[]string{"restarts", "train"}, `there is no JobSet "train" in namespace "research"; --namespace chooses another`},
		"The cluster has no JobSets": {answers{jobSetPath: nil},
			[]string{"restarts", "train"}, "this cluster does not serve jobset.x-k8s.io/v1alpha2: install JobSet, or choose another cluster with --context"},
		"The JobSet may not be read": {answers{jobSetPath: refuse(http.StatusForbidden, "Forbidden", "not for you")},
			[]string{"restarts", "train"}, "reading JobSet research/train: not for you"},
		"Jobs fail to be read":   {answers{jobsPath: broken}, []string{"restarts", "train"}, "listing the Jobs of JobSet research/train: broken"},
		"Pods fail to be read":   {answers{podsPath: broken}, []string{"restarts", "train"}, "listing the Pods of JobSet research/train: broken"},
		"Events fail to be read": {answers{eventsPath: broken}, []string{"restarts", "train"}, "listing the events of JobSet research/train: broken"},
		"No name":                {nil, []string{"restarts"}, "name one JobSet, as in: kubectl jobset restarts NAME; there are 0 names"},
		"Two names":              {nil, []string{"restarts", "a", "b"}, "name one JobSet, as in: kubectl jobset restarts NAME; there are 2 names"},
		"No name of progress":    {nil, []string{"progress"}, "name one JobSet, as in: kubectl jobset progress NAME; there are 0 names"},
		"A format of progress":   {nil, []string{"progress", "train", "-o", "xml"}, `--output is "xml", it must be table, json or yaml`},
		"An unknown format":      {nil, []string{"restarts", "train", "-o", "xml"}, `--output is "xml", it must be table, json or yaml`},
		"A negative limit":       {nil, []string{"restarts", "train", "--limit", "-1"}, "--limit is -1, it must be 0, which means all, or more"},
		"An unknown command":     {nil, []string{"restart", "train"}, `unknown command "restart" for "kubectl jobset"`},
		"An unknown context":     {nil, []string{"restarts", "train", "--context", "other"}, "context was not found for specified context: other"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, tc.answers), tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("error %v, want %q; output %q", err, tc.want, out)
			}
		})
	}
}

func TestOutputFormatsHoldTheSameReport(t *testing.T) {
	t.Parallel()
	s := serving(jobset.InPlaceRestart, nil)
	var reports []restarts.Report
	for _, format := range []string{"json", "yaml"} {
		out, err := kubectlJobSet(t, s, "restarts", "train", "-o", format)
		if err != nil {
			t.Fatal(err)
		}
		var report restarts.Report
		if err := yaml.UnmarshalStrict([]byte(out), &report); err != nil {
			t.Fatalf("%s: %v in:\n%s", format, err, out)
		}
		if isJSON := strings.HasPrefix(out, "{"); isJSON != (format == "json") {
			t.Errorf("%s is:\n%s", format, out)
		}
		reports = append(reports, report)
	}
	if reports[0].Name != "train" || reports[0].State.Name != restarts.Running {
		t.Errorf("report %+v", reports[0])
	}
	if diff := cmp.Diff(reports[0], reports[1], cmpopts.IgnoreFields(restarts.Report{}, "Time")); diff != "" {
		t.Errorf("report (-json +yaml):\n%s", diff)
	}
}

func TestProgressIsShownInEachFormat(t *testing.T) {
	t.Parallel()
	s := serving(jobset.InPlaceRestart, nil)
	for format, want := range map[string]string{"table": "State:", "json": "\"name\": \"train\"", "yaml": "name: train\n"} {
		out, err := kubectlJobSet(t, s, "progress", "train", "-o", format)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, no %q in:\n%s", format, err, want, out)
		}
	}
	_, err := kubectlJobSet(t, serving(jobset.Recreate, nil), "progress", "train")
	if err == nil || !strings.Contains(err.Error(), "progress is kept of JobSets with InPlaceRestart only") {
		t.Errorf("another strategy: %v", err)
	}
}

func TestNamesAreCompleted(t *testing.T) {
	t.Parallel()
	s := serving(jobset.InPlaceRestart, nil)
	server := httptest.NewServer(s)
	defer server.Close()
	streams, _, buffer, _ := genericiooptions.NewTestIOStreams()
	root := newRoot(streams)
	root.SetArgs([]string{"__complete", "restarts", "--server", server.URL, "--namespace", "research", ""})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if got := buffer.String(); !strings.HasPrefix(got, "train\n:4\n") {
		t.Errorf("completions %q, want train and no files", got)
	}
}

func TestHelpNamesThePluginAsUsersCallIt(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"restarts", "--help"}, {"version", "--help"}} {
		out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, nil), args...)
		if err != nil || !strings.Contains(out, "kubectl jobset") || strings.Contains(out, "kubectl-jobset") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := kubectlJobSet(t, nil, "version")
	if err != nil || !strings.HasPrefix(out, "jobset v") {
		t.Errorf("version %q, %v", out, err)
	}
}

// TestRestartsNameLostNodes: while the group assembles, and from its restart on (P174).
func TestRestartsNameLostNodes(t *testing.T) {
	t.Parallel()
	at := metav1.Now()
	js := builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(1, 2).Obj()
	js.Status.LostNodes = []jobset.LostNode{{Node: "n7", Epoch: 1, Time: at}}
	js.Status.RestartHistory = []jobset.RestartRecord{{
		Kind: jobset.RestartedInPlace, Epoch: 1, Began: metav1.NewMicroTime(at.Time), Ended: new(metav1.NewMicroTime(at.Time)),
		Cause: jobset.RestartCause{Type: jobset.CauseSilent, Pod: "w-0-0", SilentSeconds: 10}, Suspect: "node n7 was silent for 31 s, worker replaced by force",
	}}
	for _, command := range [][]string{{"restarts", "train"}, {"nodes"}} {
		out, err := kubectlJobSet(t, serving(jobset.InPlaceRestart, map[string]func(http.ResponseWriter){
			jobSetPath: object(js), jobSetsPath: object(map[string]any{"items": []any{js}}),
		}), command...)
		want := map[string][]string{
			"restarts": {"; node n7 was silent for 31 s, worker replaced by force\n", "Note: node n7 was silent at "},
			"nodes":    {"node n7 was silent, worker replaced by force"},
		}[command[0]]
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("P174: %q says %v, without %q:\n%s", command, err, text, out)
			}
		}
	}
}

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plugin

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	rbacv1 "k8s.io/api/rbac/v1"

	board "sigs.k8s.io/jobset/pkg/dashboard"
	report "sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("kubectl jobset dashboard", func() {
	It("C380: shows a group restart while it happens", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.StartManager()
		js, pods := w.RunningGroup(framework.Training(3, 5))
		page := openDashboard(ctx, "train", "-n", w.Namespace)
		Eventually(page).Should(shows(report.Running, "Running:1 Running:1 Running:1"))

		w.Agents.Report(2, pods[1])
		w.Reaches(js, 1, 1)
		Eventually(page).Should(And(HaveField("Detail.State.Name", report.Assembling), HaveField("Detail.Back", 1),
			HaveField("Detail.Restarts", ConsistOf(HaveField("Because", HavePrefix("worker pod "+pods[1].Name+" restarted"))))))

		w.Agents.Report(2, pods[0], pods[2])
		w.Reaches(js, 1, 2)
		Eventually(page).Should(And(shows(report.Running, "Running:2 Running:2 Running:2"),
			HaveField("Detail.Steps", HaveEach(HaveField("Done", true)))))
	})

	It("C380: shows what a user of one namespace may read, and says what not", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.Create(framework.Training(1, 5))
		role := roleOf(w.Namespace, "tasks", "dashboard.md")
		Expect(role.Rules[2].Resources).To(Equal([]string{"pods", "events"}))
		grant(w, role, "viewer")
		Eventually(func() answer { return kubectl(ctx, "get", "jobsets", "-n", w.Namespace, "--as", "viewer") }).Should(HaveField("Code", 0))
		page := openDashboard(ctx, "-n", w.Namespace, "--as", "viewer")
		Eventually(page).Should(And(HaveField("Detail.ID", w.Namespace+"/train"), HaveField("Cells", HaveLen(1)), HaveField("Detail.Notes", BeEmpty()),
			HaveField("Notes", ConsistOf(MatchRegexp(`^Nodes could not be read: .*"viewer" cannot (list|watch) resource "nodes"`)))))

		framework.Change(w, role, func(role *rbacv1.Role) { role.Rules[2].Resources = []string{"pods"} })
		page = openDashboard(ctx, "-n", w.Namespace, "--as", "viewer")
		Eventually(page).Should(And(
			HaveField("Detail.ID", w.Namespace+"/train"),
			HaveField("Detail.Notes", ContainElement(MatchRegexp(`^events could not be read.*"viewer" cannot (list|watch) resource "events"`))),
			HaveField("Notes", ContainElement(MatchRegexp(`^Nodes could not be read: .*"viewer" cannot (list|watch) resource "nodes"`)))))

		Expect(kubectl(ctx, "jobset", "dashboard", "-A", "--as", "viewer")).To(And(HaveField("Code", 1),
			HaveField("Err", MatchRegexp(`^error: listing JobSets: .*"viewer" cannot list resource "jobsets"`))))
	})
})

// seen is what a page shows.
type seen struct {
	Detail board.Detail
	Cells  map[int]board.Cell
	Notes  []string
}

// shows matches a page by the state of its JobSet, and the states and epochs of its workers.
func shows(state report.StateName, cells string) OmegaMatcher {
	return WithTransform(func(s seen) string {
		var texts []string
		for i := range len(s.Cells) {
			texts = append(texts, string(s.Cells[i].State)+":"+string(rune('0'+s.Cells[i].Epoch)))
		}
		return string(s.Detail.State.Name) + " " + strings.Join(texts, " ")
	}, Equal(string(state)+" "+cells))
}

// openDashboard starts the command, and returns what its page shows now.
func openDashboard(ctx context.Context, args ...string) func() seen {
	GinkgoHelper()
	ctx, stop := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, filepath.Join(os.Getenv(framework.AssetsEnv), "kubectl"), append([]string{"jobset", "dashboard"}, args...)...)
	command.Env = append(os.Environ(), "PATH="+path, "KUBECONFIG="+cluster.Kubeconfig())
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	command.Stderr = GinkgoWriter
	out, err := command.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(command.Start()).To(Succeed())
	DeferCleanup(func() {
		stop()
		Expect(command.Wait()).To(Or(Succeed(), MatchError(context.Canceled)))
	})
	lines := bufio.NewScanner(out)
	Expect(lines.Scan()).To(BeTrue(), "it printed nothing")
	Expect(lines.Text()).To(HavePrefix("http://127.0.0.1:"))
	return follow(ctx, lines.Text()+"events")
}

// follow puts together what the server sends, as the page does.
func follow(ctx context.Context, address string) func() seen {
	GinkgoHelper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	Expect(err).NotTo(HaveOccurred())
	stream, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	Expect(stream.StatusCode).To(Equal(http.StatusOK))
	now := make(chan seen)
	go func() {
		defer func() { _ = stream.Body.Close() }()
		deltas := make(chan board.Delta)
		go func() {
			defer close(deltas)
			for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
				var d board.Delta
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &d) == nil {
					deltas <- d
				}
			}
		}()
		var s seen
		for {
			select {
			case now <- s.clone():
			case d, open := <-deltas:
				if !open {
					close(now)
					return
				}
				s.apply(d)
			}
		}
	}()
	return func() seen { return <-now }
}

func (s *seen) apply(d board.Delta) {
	if d.Full || d.Detail != nil && d.Detail.ID != s.Detail.ID {
		*s = seen{Notes: s.Notes, Cells: map[int]board.Cell{}}
	}
	if d.Detail != nil {
		s.Detail = *d.Detail
	}
	if d.Notes != nil {
		s.Notes = *d.Notes
	}
	if d.Size != nil {
		maps.DeleteFunc(s.Cells, func(i int, _ board.Cell) bool { return i >= *d.Size })
	}
	maps.Copy(s.Cells, d.Cells)
}

func (s *seen) clone() seen {
	copied := *s
	copied.Cells = maps.Clone(s.Cells)
	return copied
}

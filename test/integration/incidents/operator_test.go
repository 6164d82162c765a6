/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package incidents

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/test/integration/framework"
)

// sees is what an operator has before them at one moment. Texts are regular
// expressions; alerts are all whose expressions hold.
type sees struct {
	event, condition, plugin string
	alerts                   []string
}

// minute waits until an operator sees all of this at once.
func (i *incident) minute(what string, s sees) {
	GinkgoHelper()
	By(what)
	Eventually(func(g Gomega) {
		g.Expect(i.events()).To(MatchRegexp(s.event), "events")
		g.Expect(i.conditions()).To(MatchRegexp(s.condition), "conditions")
		g.Expect(i.plugin()).To(MatchRegexp(s.plugin), "kubectl jobset restarts")
		g.Expect(i.alerts(g)).To(ConsistOf(s.alerts), "alerts")
	}).WithContext(i.ctx).Should(Succeed(), what)
}

func (i *incident) events() string {
	var list eventsv1.EventList
	Expect(api.List(i.ctx, &list, client.InNamespace(i.namespace))).To(Succeed())
	var lines []string
	for _, e := range list.Items {
		if e.Regarding.UID == i.jobSet.UID {
			lines = append(lines, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Note))
		}
	}
	return strings.Join(lines, "\n")
}

func (i *incident) conditions() string {
	js := i.now()
	var lines []string
	for _, c := range js.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(lines, "\n")
}

func (i *incident) plugin() string {
	command := exec.CommandContext(i.ctx, plugin, "restarts", i.jobSet.Name, "-n", i.namespace, "--kubeconfig", plane.Kubeconfig)
	out, err := command.CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// rule is an alert as config/components/prometheus has it. How long an expression has to hold is left out.
type rule struct {
	Alert string `json:"alert"`
	Expr  string `json:"expr"`
}

func rules() []rule {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(framework.Root(), "config/components/prometheus/rules.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var object struct {
		Spec struct {
			Groups []struct {
				Rules []rule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	Expect(yaml.Unmarshal(content, &object)).To(Succeed())
	return object.Spec.Groups[0].Rules
}

var (
	above     = regexp.MustCompile(`^max\((\w+(?:{\w+="\w+"})?)\) > (\d+)$`)
	sample    = regexp.MustCompile(`(?m)^(jobset_\w+(?:{\w+="\w+"})?) (\S+)$`)
	summed    = regexp.MustCompile(`^max\(sum without \((\w+)\) \((\w+){(\w+)=~"([\w|]+)"}\)\) > (\d+)$`)
	increased = regexp.MustCompile(`^sum\(increase\((\w+)\[\w+\]\)\) >= (\d+)$`)
)

// alerts are those whose expressions hold, by what the manager says now. Seconds are those of the
// suite's minutes, and what increased since the incident began did so in any of the windows. That
// the engine of Prometheus finds the same, and for how long, is shown by rules_test.yaml beside the alerts.
func (i *incident) alerts(g Gomega) []string {
	values := scrape(i.ctx, g)
	holding := []string{}
	for _, r := range rules() {
		if r.Alert == "JobSetControllerRestarts" {
			continue // about the process, not what it says: rules_test.yaml has it, and the manager here lives throughout
		}
		if m := above.FindStringSubmatch(r.Expr); m != nil {
			limit, _ := strconv.ParseFloat(m[2], 64)
			g.Expect(values).To(HaveKey(m[1]))
			if strings.HasSuffix(m[1], "_seconds") {
				limit *= minute.Seconds() / 60
			}
			if values[m[1]] > limit {
				holding = append(holding, r.Alert)
			}
			continue
		}
		if m := summed.FindStringSubmatch(r.Expr); m != nil {
			limit, _ := strconv.ParseFloat(m[5], 64)
			if m[1] == m[3] && sumOf(values, m[2], m[3], m[4]) > limit {
				holding = append(holding, r.Alert)
			}
			continue
		}
		if m := increased.FindStringSubmatch(r.Expr); m != nil {
			limit, _ := strconv.ParseFloat(m[2], 64)
			if values[m[1]]-i.before[m[1]] >= limit {
				holding = append(holding, r.Alert)
			}
			continue
		}
		g.Expect(r.Expr).To(HavePrefix("absent("), "an expression of a form that this suite does not know")
	}
	slices.Sort(holding)
	return holding
}

// sumOf is the sum of a metric over all values of its label that match.
func sumOf(values map[string]float64, metric, label, pattern string) float64 {
	name := regexp.MustCompile(fmt.Sprintf(`^%s{%s="(%s)"}$`, metric, label, pattern))
	sum := 0.0
	for series, value := range values {
		if name.MatchString(series) {
			sum += value
		}
	}
	return sum
}

// scrape reads the metrics with one label at most, which is part of their names here.
func scrape(ctx context.Context, g Gomega) map[string]float64 {
	content, err := metrics.Scrape(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	values := map[string]float64{}
	for _, m := range sample.FindAllStringSubmatch(content, -1) {
		values[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return values
}

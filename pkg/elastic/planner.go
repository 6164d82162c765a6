/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// job is a Job while a round is planned.
type job struct {
	*Job
	// now is its size and size that of the round, within the bounds, whatever Job says.
	min, max, now, size int32
	// most is how far it may grow: max, or less because of what was refused before.
	most int32
	// accelerator is the column of its accelerator, -1 if it is a CPU job.
	accelerator int
	// ties are the amounts that decide between equal scores.
	ties  []int64
	shape *shape
	// charges are what an instance takes of the budgets, budget is what must be left of them for it.
	charges, budget []amount
	// quota is that of its namespace, nil without one, and quotaNeeds what an instance takes of it.
	quota      *quota
	quotaNeeds []int64

	// bound are its instances that have a node, by index. Those of a job that never ran count on usable nodes only.
	bound []spot
	// placed are the nodes of its instances by index, as far as they have one.
	placed []int
	// pending counts those without: no node can take them now.
	pending int32
	// waits: its minimum does not fit. ungiven: it would if others gave, and they do not because its Pods do not exist.
	waits, ungiven bool
	// lacks are the instances that no node can take, lost those of them that it goes on without, and
	// stuck says why it cannot (P108).
	lacks, lost int32
	stuck       string
	// retreats is the size that it goes back to because of what is refused, 0 if it does not, and refusal
	// says so, or why it cannot. ceiling is what is to be kept (P108a).
	retreats int32
	refusal  string
	noRoom   bool
	ceiling  *Ceiling
}

// has returns the number of its instances.
func (j *job) has() int32 { return int32(len(j.placed)) + j.pending }

func (j *job) score() score { return scoreOf(j.has(), j.min, j.max) }

// spare returns the nodes of the instances that the job can do without. What is pending goes first.
func (j *job) spare() []int { return j.placed[min(int(j.min), len(j.placed)):] }

// withinBounds returns the size that a job has if its bounds are obeyed.
func withinBounds(j *Job) (least, most, size int32) {
	least = max(j.Min, 1)
	most = max(j.Max, least)
	return least, most, min(max(j.Size, least), most)
}

// spot is where an instance stands.
type spot struct {
	index int32
	row   int
}

// planner holds what does not change from round to round.
type planner struct {
	in      *Input
	cluster *cluster
	jobs    []*job // as in in.Jobs
	gpu     []*job
	cpu     []*job
	// reclaim is what jobs of the kind that is planned have above their minimums, by node.
	reclaim []int64
	// gifts were made in all rounds so far.
	gifts []gift
}

func newPlanner(in *Input) *planner {
	columns := columnsFor(in)
	p := &planner{in: in, cluster: newCluster(in.Nodes, columns)}
	quotas := p.addQuotas()
	for i := range in.Jobs {
		j := p.addJob(&in.Jobs[i])
		p.findBound(j)
		if j.quota = quotas[j.Namespace]; j.quota != nil {
			j.quotaNeeds = j.quota.needs(j.Job)
		}
	}
	classes, shapes, sorted := map[string]*class{}, map[string]*shape{}, map[int]*levels{}
	for _, j := range p.jobs {
		signature := j.Where.signature()
		if classes[signature] == nil {
			classes[signature] = p.cluster.addClass(&j.Where, in.ReservePercent)
		}
		by, unit := j.accelerator, int64(1)
		if by < 0 {
			by, unit = columns[corev1.ResourceCPU], 1000
			classes[signature].budgeted = true
		}
		if sorted[by] == nil {
			sorted[by] = newLevels(by, unit, len(in.Nodes))
			p.cluster.levels = append(p.cluster.levels, sorted[by])
		}
		p.shapeOf(j, classes[signature], sorted[by], signature, shapes)
		p.obeyCeiling(j)
	}
	p.reclaim = make([]int64, len(p.cluster.free))
	return p
}

// addQuotas adds the quotas by namespace.
func (p *planner) addQuotas() map[string]*quota {
	quotas := make(map[string]*quota, len(p.in.Quotas))
	for namespace, headroom := range p.in.Quotas {
		quotas[namespace] = newQuota(headroom)
		p.cluster.quotas = append(p.cluster.quotas, quotas[namespace])
	}
	return quotas
}

// nowhere is the column of all resources that no node has. Nothing is free of it.
const nowhere corev1.ResourceName = ""

// columnsFor gives a column to what jobs request and nodes have. Each column costs memory for each node, so names that
// only the authors of jobs know share one: there may be thousands in each job (C386).
func columnsFor(in *Input) map[corev1.ResourceName]int {
	columns := map[corev1.ResourceName]int{corev1.ResourcePods: 0, corev1.ResourceCPU: 1, corev1.ResourceMemory: 2, nowhere: 3}
	offered := map[corev1.ResourceName]bool{}
	for _, name := range in.Accelerators {
		offered[name] = true // decides what kind of job it is, also without such nodes
	}
	for i := range in.Nodes {
		for name := range in.Nodes[i].Allocatable {
			offered[name] = true
		}
	}
	for i := range in.Jobs {
		for name := range in.Jobs[i].Request {
			if _, known := columns[name]; !known && offered[name] {
				columns[name] = len(columns)
			}
		}
	}
	return columns
}

// addJob adds a job with what it needs, but without its shape.
func (p *planner) addJob(given *Job) *job {
	j := &job{Job: given, accelerator: -1}
	j.min, j.max, j.now = withinBounds(given)
	for _, name := range p.in.Accelerators {
		if given.Request[name] > 0 {
			j.accelerator = p.cluster.columns[name]
			j.ties = append(j.ties, given.Request[name])
			break
		}
	}
	j.ties = append(j.ties, given.Request[corev1.ResourceCPU], given.Request[corev1.ResourceMemory])
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		of := max(given.Limit[name], given.Request[name])
		j.charges = append(j.charges, amount{p.cluster.columns[name], of})
	}
	if j.accelerator < 0 {
		j.budget = j.charges
		p.cpu = append(p.cpu, j)
	} else {
		j.charges = append(j.charges, amount{j.accelerator, j.ties[0]})
		j.budget = j.charges[2:]
		p.gpu = append(p.gpu, j)
	}
	p.jobs = append(p.jobs, j)
	return j
}

// request is what an instance takes, by column.
func (p *planner) request(j *job) []int64 {
	request := make([]int64, p.cluster.width)
	for name, of := range j.Request {
		column, known := p.cluster.columns[name]
		if !known {
			column = p.cluster.columns[nowhere]
		}
		request[column] = max(request[column], of)
	}
	request[p.cluster.columns[corev1.ResourcePods]] = 1
	return request
}

// shapeOf finds the shape of a job, or adds it.
func (p *planner) shapeOf(j *job, k *class, by *levels, signature string, shapes map[string]*shape) {
	request := p.request(j)
	var key strings.Builder
	key.WriteString(strconv.Itoa(by.column))
	s := &shape{class: k, sorted: by, from: levelOf(request[by.column] / by.unit), open: newSet(len(p.cluster.nodes))}
	for column, of := range request {
		if of > 0 {
			s.needs = append(s.needs, amount{column, of})
		}
		key.WriteString(" ")
		key.WriteString(strconv.FormatInt(of, 36))
	}
	key.WriteString(" " + signature)
	if known := shapes[key.String()]; known != nil {
		j.shape = known
		return
	}
	j.shape, shapes[key.String()] = s, s
	p.cluster.shapes = append(p.cluster.shapes, s)
}

// findBound looks up the nodes of the bound instances of a job. What runs on a lost node has to go elsewhere, unless it runs.
func (p *planner) findBound(j *job) {
	for _, instance := range j.Bound {
		row, known := p.cluster.rows[instance.Node]
		if known && instance.Index >= 0 && (j.Running || !p.cluster.nodes[row].Lost) && (j.Started || p.cluster.nodes[row].Usable) {
			j.bound = append(j.bound, spot{instance.Index, row})
		}
	}
	slices.SortFunc(j.bound, func(a, b spot) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.row, b.row)) })
	j.bound = slices.CompactFunc(j.bound, func(a, b spot) bool { return a.index == b.index })
}

// settle puts the bound instances of all jobs on their nodes. Those with an index at or above the
// size of their job are on their way out.
func (p *planner) settle(sizes []int32) {
	c := p.cluster
	c.reset()
	for i, j := range p.jobs {
		j.placed, j.pending, j.waits, j.ungiven, j.size = j.placed[:0], 0, false, false, sizes[i]
		for _, at := range j.bound {
			if at.index >= j.size {
				break
			}
			j.placed = append(j.placed, at.row)
			c.move(at.row, j, -1)
		}
		if j.quota != nil && j.Started {
			j.quota.owe(j.quotaNeeds, int64(max(0, j.size-int32(len(j.placed)))))
		}
	}
}

// sortPlaced gives the instances that were placed after the bound ones the first indexes that are not
// taken, and sorts all by index: the highest is the first to go.
func (j *job) sortPlaced() {
	bound := j.bound
	if len(bound) > 0 {
		at, _ := slices.BinarySearchFunc(bound, j.size, func(s spot, size int32) int { return cmp.Compare(s.index, size) })
		bound = bound[:at]
	}
	if len(bound) == 0 || len(bound) == len(j.placed) {
		return
	}
	fresh := slices.Clone(j.placed[len(bound):])
	for at, index := 0, int32(0); at < len(j.placed); at, index = at+1, index+1 {
		if len(bound) > 0 && (len(fresh) == 0 || bound[0].index == index) {
			j.placed[at], bound = bound[0].row, bound[1:]
		} else {
			j.placed[at], fresh = fresh[0], fresh[1:]
		}
	}
}

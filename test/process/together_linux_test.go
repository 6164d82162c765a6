/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/process"
)

// dirEnv makes this program one that starts another, says which process that is, and stays.
const dirEnv = "PROCESS_TOGETHER"

func TestMain(m *testing.M) {
	dir, ok := os.LookupEnv(dirEnv)
	if !ok {
		os.Exit(m.Run())
	}
	p, err := process.Start(process.Command{Dir: dir, Name: "p", Program: "/bin/sleep", Args: []string{"1h"}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	<-time.After(time.Hour)
}

func TestAProcessDoesNotOutliveAProgramThatIsKilled(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), dirEnv+"="+t.TempDir())
	out, err := program.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(program.Start()).To(gomega.Succeed())
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	g.Expect(err).NotTo(gomega.HaveOccurred(), line)
	g.Expect(runs(pid)).To(gomega.BeTrue())

	g.Expect(program.Process.Kill()).To(gomega.Succeed())
	_ = program.Wait() // killed
	g.Eventually(func() bool { return runs(pid) }, time.Minute, time.Millisecond).Should(gomega.BeFalse())
}

// runs tells zombies, which a machine without a reaper keeps, from processes that run.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.TrimSpace(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[:1]
	return state != "Z" && state != "X"
}

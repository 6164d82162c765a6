/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/dashboard"
)

// dashboardOptions are the flags of `kubectl jobset dashboard`.
type dashboardOptions struct {
	port          int
	open          bool
	allNamespaces bool
}

func newDashboard(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o dashboardOptions
	command := &cobra.Command{
		Use:   "dashboard [NAME]",
		Short: "Serve a local web page that shows JobSets live",
		Long: `Serve a web page on this machine that shows one JobSet, those of a namespace, or
all that you may read: every worker, the last restart step by step, the history
of restarts, nodes that failed, and elastic sizes. It follows the cluster with
your own credentials, and writes nothing.

The page is at an address that cannot be guessed. Whoever has it, and can reach
this machine's loopback interface, sees what you may see, until you stop it.`,
		Example: `  # One JobSet
  kubectl jobset dashboard train

  # All JobSets of all namespaces, in the browser
  kubectl jobset dashboard -A --open

  # On a machine that is reached by ssh -L 8080:localhost:8080
  kubectl jobset dashboard -n research --port 8080`,
		Args: func(_ *cobra.Command, args []string) error {
			return oneOrNone(args, o.allNamespaces)
		},
		ValidArgsFunction: completeNames(flags),
		RunE: func(command *cobra.Command, args []string) error {
			c, err := connect(flags)
			if err != nil {
				return err
			}
			scope := dashboard.Scope{Namespace: c.namespace}
			if o.allNamespaces {
				scope.Namespace = metav1.NamespaceAll
			}
			if len(args) == 1 {
				scope.Name = args[0]
			}
			if err := c.canRead(command.Context(), scope); err != nil {
				return err
			}
			return o.serve(command.Context(), c, scope, streams)
		},
	}
	command.Flags().IntVar(&o.port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	command.Flags().BoolVar(&o.open, "open", false, "open the page in the browser")
	command.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the JobSets of all namespaces")
	return command
}

// canRead fails if there would be nothing to see.
func (c *cluster) canRead(ctx context.Context, scope dashboard.Scope) error {
	if scope.Name != "" {
		if _, err := c.jobSets.JobsetV1alpha2().JobSets(scope.Namespace).Get(ctx, scope.Name, metav1.GetOptions{}); err != nil {
			return c.explain(err, scope.Name)
		}
		return nil
	}
	_, err := c.list(ctx, scope.Namespace, metav1.ListOptions{Limit: 1})
	return err
}

// serve prints the address of the page, and serves it until the context ends.
func (o *dashboardOptions) serve(ctx context.Context, c *cluster, scope dashboard.Scope, streams genericiooptions.IOStreams) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return fmt.Errorf("opening a port: %w", err)
	}
	board := dashboard.NewBoard(scope, time.Now)
	dashboard.Watch(ctx, board, c.jobSets, c.kubernetes)
	page := dashboard.NewServer(board)
	server := &http.Server{
		Handler:           page,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // pages that are open end with the command
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	address := "http://" + listener.Addr().String()
	fmt.Fprintf(streams.Out, "%s%s\nPress Ctrl-C to stop. Anyone on this machine who knows the address can read what you can read: keep it to yourself.\n", address, page.Path())
	if o.open {
		remove, err := openBrowser(ctx, address+page.OncePath())
		defer remove()
		if err != nil {
			fmt.Fprintf(streams.ErrOut, "the browser was not opened: %v\n", err)
		}
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// openBrowser asks the desktop to show an address, by a file that leads to it: other users of the machine can read the arguments
// of programs, and not the file. What it returns removes the file.
func openBrowser(ctx context.Context, address string) (remove func(), err error) {
	directory, err := os.MkdirTemp("", "kubectl-jobset-") // mode 0700
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(directory) }
	file := filepath.Join(directory, "dashboard.html")
	if err := os.WriteFile(file, []byte(dashboard.Redirect(address)), 0o600); err != nil {
		return remove, err
	}
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	// The browser may be this very process, and stays when the command ends.
	command := exec.CommandContext(context.WithoutCancel(ctx), program, file)
	if err := command.Start(); err != nil {
		return remove, err
	}
	go func() { _ = command.Wait() }()
	return remove, nil
}

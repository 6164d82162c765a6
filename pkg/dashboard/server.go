/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed assets
var embedded embed.FS

const (
	// pace is how long changes are collected after some were sent.
	pace = 200 * time.Millisecond
	// pulse is how often a page hears that nothing has changed, so that it can tell that from a lost connection.
	pulse = 5 * time.Second
	// writeTimeout is how long a page may take to read before it is given up.
	writeTimeout = 30 * time.Second
)

// Server serves the page of a board to programs on this machine that know its path.
type Server struct {
	board *Board
	files http.Handler
	// token is the first part of the path, which nobody can guess. once is another one, for those who pass it on where
	// others can read it, as in the arguments of a program: it leads to the page once.
	token, once string
	used        atomic.Bool
}

// NewServer returns a server with a path of its own.
func NewServer(b *Board) *Server {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the name is a constant
	}
	return &Server{board: b, files: http.FileServerFS(assets), token: rand.Text(), once: rand.Text()}
}

// Path is where the page is.
func (s *Server) Path() string { return "/" + s.token + "/" }

// OncePath leads to the page, once.
func (s *Server) OncePath() string { return "/" + s.once + "/" }

// ServeHTTP answers only those who name this machine and know the path, and only reads.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	switch rest, known := s.within(r.URL.Path); {
	case !local(r.Host):
		http.Error(w, "this page is for this machine", http.StatusForbidden)
	case r.URL.Path == s.OncePath() && !s.used.Swap(true):
		http.Redirect(w, r, s.Path(), http.StatusSeeOther)
	case !known:
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
	case rest == "events":
		stream(w, r, s.board)
	default:
		http.StripPrefix(strings.TrimSuffix(s.Path(), "/"), s.files).ServeHTTP(w, r)
	}
}

// within returns what a path names in the page's, and whether it is there. How long it takes tells nothing about the token.
func (s *Server) within(path string) (string, bool) {
	at := s.Path()
	if len(path) < len(at) || subtle.ConstantTimeCompare([]byte(path[:len(at)]), []byte(at)) != 1 {
		return "", false
	}
	return path[len(at):], true
}

// local reports whether a request names this machine. A page from elsewhere whose name was made to resolve to this
// machine (DNS rebinding) names its own. Ports are not compared: one may be forwarded.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return name == "127.0.0.1" || name == "localhost"
}

// protect says that the page loads nothing from elsewhere, is in no frame, and is kept nowhere.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// stream sends what changes of the JobSet that the request names, until the page goes.
func stream(w http.ResponseWriter, r *http.Request, b *Board) {
	w.Header().Set("Content-Type", "text/event-stream")
	id := r.URL.Query().Get("jobset")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(pulse)
	defer ticker.Stop()
	var sent *View
	for {
		changed := b.Changed()
		view := b.View()
		if err := send(w, out, Diff(sent, view, id)); err != nil {
			return // the page has gone, or does not read any more
		}
		sent = view
		select { // a page that is not sent more than it can read stays quick
		case <-r.Context().Done():
			return
		case <-time.After(pace):
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		case <-ticker.C:
		}
	}
}

func send(w http.ResponseWriter, out *http.ResponseController, d *Delta) error {
	// Servers without deadlines, as in tests, say so.
	_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
	if d == nil {
		if _, err := fmt.Fprint(w, "event: pulse\ndata:\n\n"); err != nil {
			return err
		}
		return out.Flush()
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return err
	}
	return out.Flush()
}

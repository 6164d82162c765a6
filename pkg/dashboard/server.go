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

// cookieName is the cookie of a browser that was opened. Browsers send it for its path alone, whatever the port.
const cookieName = "jobset-dashboard"

// Server serves the page of a board to programs on this machine that know its path, or were given its cookie.
type Server struct {
	board *Board
	files http.Handler
	// token is the first part of the path of the page, which cannot be guessed.
	token string
	// once is the path that gives its first visitor the cookie, with which opened is the path of the page.
	once, opened, cookie string
	used                 atomic.Bool
}

// NewServer returns a server with paths of its own.
func NewServer(b *Board) *Server {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the name is a constant
	}
	return &Server{board: b, files: http.FileServerFS(assets), token: rand.Text(), once: rand.Text(), opened: rand.Text(), cookie: rand.Text()}
}

// Path is where the page is.
func (s *Server) Path() string { return "/" + s.token + "/" }

// OncePath opens the page in one browser.
func (s *Server) OncePath() string { return "/" + s.once + "/" }

// openedPath is where the page is for that browser.
func (s *Server) openedPath() string { return "/" + s.opened + "/" }

// ServeHTTP answers only those who name this machine and know the path, and only reads.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	base := s.baseOf(r)
	switch {
	case !local(r.Host):
		http.Error(w, "this page is for this machine", http.StatusForbidden)
	case base == "":
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "this page can only be read", http.StatusMethodNotAllowed)
	case base == s.OncePath() && s.used.Swap(true):
		http.Error(w, "not found", http.StatusNotFound)
	case base == s.OncePath():
		s.admit(w)
	case r.URL.Path == base+"events":
		stream(w, r, s.board)
	default:
		http.StripPrefix(strings.TrimSuffix(base, "/"), s.files).ServeHTTP(w, r)
	}
}

// baseOf returns which path of the server a request knows, "" if none. How long it takes tells nothing about any.
func (s *Server) baseOf(r *http.Request) string {
	for _, base := range []string{s.Path(), s.OncePath(), s.openedPath()} {
		if len(r.URL.Path) < len(base) || subtle.ConstantTimeCompare([]byte(r.URL.Path[:len(base)]), []byte(base)) != 1 {
			continue
		}
		if base == s.openedPath() {
			cookie, err := r.Cookie(cookieName)
			if err != nil || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(s.cookie)) != 1 {
				return ""
			}
		}
		return base
	}
	return ""
}

// admit gives a browser the cookie, and sends it to the page. A redirect would not do: it belongs to the navigation that began
// in a file, and browsers send a strict cookie only if this server began it.
func (s *Server) admit(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.cookie, Path: s.openedPath(), HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, Redirect(s.openedPath()))
}

// Redirect is a page that leads to an address, which must need no escaping.
func Redirect(address string) string {
	return `<!DOCTYPE html><meta charset="utf-8"><title>JobSets</title><meta http-equiv="refresh" content="0;url=` + address + `">`
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

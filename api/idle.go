package api

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// use tells whether a Server is used: a request of somebody who may ask runs, a
// stream that stays open included. What watches the daemon is no use of it.
type use struct {
	mu      sync.Mutex
	running int
	changed chan struct{} // closed, and made anew, when the first request begins and the last one ends
}

func newUse() *use { return &use{changed: make(chan struct{})} }

// count adds n to the requests that run.
func (u *use) count(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.running
	u.running += n
	if before == 0 || u.running == 0 {
		close(u.changed)
		u.changed = make(chan struct{})
	}
}

// now returns whether a request runs, and a channel that is closed when that
// may be different.
func (u *use) now() (running bool, changed <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.running > 0, u.changed
}

// used counts the requests that reach next.
func (s *Server) used(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := bare(r); !open(path) && path != "/metrics" {
			s.use.count(1)
			defer s.use.count(-1)
		}
		next.ServeHTTP(w, r)
	})
}

// Idle waits until the Server was without use for as long as after says, and
// reports true then; false where ctx is done before.
func (s *Server) Idle(ctx context.Context, after time.Duration) bool {
	for {
		running, changed := s.use.now()
		var over <-chan time.Time // of a used Server none
		if !running {
			over = time.After(after)
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		case <-over:
			if running, now := s.use.now(); !running && now == changed {
				return true
			}
		}
	}
}

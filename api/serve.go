package api

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"memd"
)

// Bounds on connections. There is none on the time to answer: a groom answers
// when it is done.
const (
	headerTimeout  = 5 * time.Second  // to send a request's headers
	requestTimeout = 30 * time.Second // to send a whole request
	idleTimeout    = 2 * time.Minute  // between requests
	maxHeader      = 64 << 10         // bytes of a request's headers

	drainTimeout = 10 * time.Second // for running requests, when the daemon ends
)

// Serve answers requests on the listeners, unix sockets with Local and others
// with Remote, until ctx is done or a listener fails. Then it accepts no more,
// lets running requests end for up to ten seconds (see Close) and cuts off what
// is left. It closes the listeners. The end of ctx is no error.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	for _, l := range listeners {
		if s.authNone && !isUnix(l) && !isLoopback(l.Addr()) {
			closeAll(listeners)
			return memd.FieldErrorf(memd.CodeInvalidRequest, "auth",
				"auth: none is for loopback addresses alone, and %s is none", l.Addr())
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failures := make(chan error, len(listeners))
	var running sync.WaitGroup
	for _, l := range listeners {
		srv := s.server(l)
		running.Go(func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failures <- err
				stop()
			}
		})
		running.Go(func() {
			<-ctx.Done()
			s.drain(srv)
		})
	}
	running.Wait()
	close(failures)
	return <-failures // nil where there is none
}

// Close cuts short the draining of Serve: what still runs is cut off.
func (s *Server) Close() { s.closed.Do(func() { close(s.halt) }) }

// server makes the HTTP server of one listener.
func (s *Server) server(l net.Listener) *http.Server {
	handler := s.Remote()
	if isUnix(l) {
		handler = s.Local()
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(complaints{s.log}, "", 0),
	}
}

// drain lets the running requests of srv end.
func (s *Server) drain(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	go func() {
		select {
		case <-s.halt:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := srv.Shutdown(ctx); err != nil {
		s.log.Warn("running requests were cut off", "reason", err)
		_ = srv.Close() // its listener is closed already
	}
}

// complaints takes what net/http says of connections into the log. It is told
// at debug level, since anyone who connects can cause it.
type complaints struct{ log *slog.Logger }

// Write logs one complaint, but not the value of a panic, which may hold a
// body.
func (c complaints) Write(line []byte) (int, error) {
	if first, _, _ := bytes.Cut(line, []byte("\n")); !bytes.Contains(first, []byte("panic")) {
		c.log.Debug("connection complaint", "detail", string(first))
	}
	return len(line), nil
}

func isUnix(l net.Listener) bool { return l.Addr().Network() == "unix" }

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // nothing was written to it
	}
}

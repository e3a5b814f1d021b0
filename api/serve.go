package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"memd"
)

// bounds are those on a connection. There is none on the time until a request
// is answered: a groom answers when it is done.
type bounds struct {
	header  time.Duration // to send a request's headers
	request time.Duration // to send a whole request
	refused time.Duration // to send what is left of one that is refused
	answer  time.Duration // to take what is written
	idle    time.Duration // between requests
	spare   int           // connections beyond the cap
}

// patient bounds what a slow client may take, not what a client on a slow
// network needs.
var patient = bounds{
	header: 5 * time.Second, request: 30 * time.Second, refused: 5 * time.Second, answer: 30 * time.Second, idle: 2 * time.Minute, spare: spareConns,
}

const (
	maxHeader = 64 << 10 // bytes of a request's headers

	drainTimeout = 10 * time.Second // for running requests, when the daemon ends
)

// Serve answers requests on the listeners, on TCP with Remote, until ctx is done or a listener fails. Then it accepts no more,
// lets running requests end for up to ten seconds (see Close) and cuts off what
// is left. It closes the listeners. The end of ctx is no error.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	for _, l := range listeners {
		if err := s.mayServe(l); err != nil {
			closeAll(listeners)
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failures := make(chan error, len(listeners))
	var running sync.WaitGroup
	for _, l := range listeners {
		srv, l := s.server(l)
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
	running.Go(func() {
		<-ctx.Done()
		s.closeMCP()
	})
	running.Wait()
	close(failures)
	return <-failures // nil where there is none
}

// Close cuts short the draining of Serve: what still runs is cut off.
func (s *Server) Close() { s.closed.Do(func() { close(s.halt) }) }

// mayServe refuses a listener that would let in whom nobody asked who they are.
// The configuration was checked for this; here the address is known.
func (s *Server) mayServe(l net.Listener) error {
	own, isSocket := l.(*socket)
	switch {
	case isSocket && own.shared && len(s.peers) == 0:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "socket.peers", "everyone can open the socket, and nobody is said who may")
	case isUnix(l) || isLoopback(l.Addr()):
		return nil
	case s.authNone:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "auth",
			"auth: none is for loopback addresses alone, and %s is none", l.Addr())
	case s.tls == nil && !s.tlsElsewhere:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "listen",
			"%s is no loopback address and needs tls.cert and tls.key, or tls.terminated_elsewhere where a proxy speaks TLS", l.Addr())
	}
	return nil
}

// server makes the HTTP server of one listener, and what it listens on.
func (s *Server) server(l net.Listener) (*http.Server, net.Listener) {
	srv := &http.Server{
		Handler:           s.Remote(),
		ReadHeaderTimeout: s.bounds.header,
		ReadTimeout:       s.bounds.request,
		IdleTimeout:       s.bounds.idle,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       s.linked,
		ErrorLog:          log.New(complaints{s.log}, "", 0),

		DisableGeneralOptionsHandler: true, // "OPTIONS *" would be answered before any gate
	}
	var in net.Listener = newCapped(l, s.conns, s.bounds.spare, s.bounds.answer)
	switch {
	case isUnix(l):
		srv.Handler = s.unix()
	case s.tls != nil:
		in = tls.NewListener(in, s.tls)
	}
	return srv, in
}

// draining is the time in which what runs may end.
func (s *Server) draining() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	go func() {
		select {
		case <-s.halt:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// closeMCP ends the sessions of the Model Context Protocol, whose streams would
// otherwise stay open.
func (s *Server) closeMCP() {
	ctx, cancel := s.draining()
	defer cancel()
	s.mcp.Close(ctx)
}

// drain lets the running requests of srv end.
func (s *Server) drain(srv *http.Server) {
	ctx, cancel := s.draining()
	defer cancel()
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

package api

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"

	"memd"
)

var errNoPeer = errors.New("the user behind the connection cannot be told")

type linkKey struct{}

// link is what is known of a connection before it says anything.
type link struct {
	spare  bool // it is beyond the cap
	caller memd.Caller
	known  bool // caller is who opened it, by Options.Peers
}

func linkOf(ctx context.Context) link {
	l, _ := ctx.Value(linkKey{}).(link)
	return l
}

// linked looks at a connection once, when it was accepted.
func (s *Server) linked(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	t, ok := conn.(*ticketed)
	if !ok {
		return ctx
	}
	l := link{spare: t.spare}
	if len(s.peers) > 0 && t.LocalAddr().Network() == "unix" {
		uid, err := uidOf(t.Conn)
		if err != nil {
			s.log.ErrorContext(ctx, "user behind a connection not known", "error", err)
		} else {
			l.caller, l.known = s.peers.Caller(uid, uint32(os.Geteuid()))
		}
	}
	return context.WithValue(ctx, linkKey{}, l)
}

// identify lets in whom the kernel says that opened the connection: the
// socket's owner and root as on a socket of their own, others as a token's
// holder would be.
func (s *Server) identify(next http.Handler) http.Handler {
	bounded := s.limited(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := linkOf(r.Context())
		switch {
		case l.known && l.caller.Name == memd.LocalAdmin().Name:
			next.ServeHTTP(w, withCaller(r, l.caller))
		case l.known:
			bounded.ServeHTTP(w, withCaller(r, l.caller))
		case open(bare(r)):
			s.farewell(w, r)
			next.ServeHTTP(w, r)
		default:
			s.farewell(w, r)
			s.metrics.authFailed("peer")
			s.refuse(w, r, memd.Errorf(memd.CodeForbidden, "this user may not use the socket").
				WithHint("the user that runs memd may allow it under socket.peers in memd.yaml"))
		}
	})
}

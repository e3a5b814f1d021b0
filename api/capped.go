package api

import (
	"net"
	"sync"
	"time"
)

// spareConns is how many connections of a listener are accepted beyond its cap.
// They are told so and asked to come again, and health checks among them are
// answered; still more wait in the kernel's queue.
const spareConns = 16

// capped is a listener with a bounded number of open connections.
type capped struct {
	net.Listener
	all     chan struct{} // a place for each open connection, spare ones included
	regular chan struct{} // a place for each of those that are served
	done    chan struct{}
	close   func() error

	answer time.Duration // that the system may take to take what is written
	now    func() time.Time
}

// newCapped serves at most n connections of l at a time.
func newCapped(l net.Listener, n, spare int, answer time.Duration) *capped {
	c := &capped{
		Listener: l, all: make(chan struct{}, n+spare), regular: make(chan struct{}, n), done: make(chan struct{}),
		answer: answer, now: time.Now,
	}
	c.close = sync.OnceValue(func() error {
		close(c.done)
		return l.Close()
	})
	return c
}

// Accept waits for a place and a connection.
func (c *capped) Accept() (net.Conn, error) {
	select {
	case c.all <- struct{}{}:
	case <-c.done:
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		<-c.all
		return nil, err
	}
	t := &ticketed{Conn: conn, from: c}
	select {
	case c.regular <- struct{}{}:
	default:
		t.spare = true
	}
	t.release = sync.OnceFunc(func() {
		if !t.spare {
			<-c.regular
		}
		<-c.all
	})
	return t, nil
}

// Close also ends an Accept that waits for a place.
func (c *capped) Close() error { return c.close() }

// ticketed is a connection that gives its place back when it is closed.
type ticketed struct {
	net.Conn
	from    *capped
	spare   bool // it is one of those beyond the cap
	release func()
}

// Write gives up where the other end does not read: net/http bounds the whole
// time to answer or none of it, and a groom may take as long as it takes.
func (t *ticketed) Write(b []byte) (int, error) {
	if err := t.SetWriteDeadline(t.from.now().Add(t.from.answer)); err != nil {
		return 0, err
	}
	return t.Conn.Write(b)
}

// CloseWrite ends the answer while the rest of a refused request still comes
// in. net/http asks for it, or the client would see a reset instead.
func (t *ticketed) CloseWrite() error {
	if conn, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// Close closes the connection.
func (t *ticketed) Close() error {
	defer t.release()
	return t.Conn.Close()
}

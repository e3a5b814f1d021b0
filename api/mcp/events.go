package mcp

import (
	"context"
	"iter"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what is kept for streams that may be resumed. The library's own store
// bounds bytes alone, and a session opens a stream with every request.
const (
	maxEventBytes = 16 << 20 // of all sessions
	maxStreams    = 64       // of a session
)

// events keeps what was sent on streams, so that a client whose connection broke
// can go on where it was. The oldest streams go first. It is safe for concurrent
// use.
type events struct {
	mu      sync.Mutex
	streams []*stream // the oldest first
	bytes   int
}

// stream is what was sent on one stream.
type stream struct {
	session, id string
	sent        [][]byte
	dropped     bool // what was sent is not kept any more
	bytes       int
}

// Open begins a stream.
func (e *events) Open(_ context.Context, session, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.find(session, id) != nil {
		return nil
	}
	var own []*stream
	for _, s := range e.streams {
		if s.session == session && s.id != "" { // the one without an id lives as long as the session
			own = append(own, s)
		}
	}
	for _, s := range own[:max(0, len(own)-maxStreams+1)] {
		e.remove(s)
	}
	e.streams = append(e.streams, &stream{session: session, id: id})
	return nil
}

// Append keeps an event. Of a stream that is not kept any more it keeps nothing.
func (e *events) Append(_ context.Context, session, id string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.find(session, id)
	if s == nil || s.dropped {
		return nil
	}
	s.sent = append(s.sent, data)
	s.bytes += len(data)
	e.bytes += len(data)
	for _, old := range e.streams {
		if e.bytes <= maxEventBytes {
			break
		}
		e.bytes -= old.bytes
		old.sent, old.bytes, old.dropped = nil, 0, old.dropped || old.bytes > 0
	}
	return nil
}

// After goes over the events behind an index. Those that are not kept any more
// are an error.
func (e *events) After(_ context.Context, session, id string, index int) iter.Seq2[[]byte, error] {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.find(session, id)
	if s == nil || s.dropped {
		return func(yield func([]byte, error) bool) { yield(nil, sdk.ErrEventsPurged) }
	}
	rest := slices.Clone(s.sent[min(max(index+1, 0), len(s.sent)):])
	return func(yield func([]byte, error) bool) {
		for _, data := range rest {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// SessionClosed drops the streams of a session.
func (e *events) SessionClosed(_ context.Context, session string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range slices.Clone(e.streams) {
		if s.session == session {
			e.remove(s)
		}
	}
	return nil
}

func (e *events) find(session, id string) *stream {
	for _, s := range slices.Backward(e.streams) {
		if s.session == session && s.id == id {
			return s
		}
	}
	return nil
}

func (e *events) remove(gone *stream) {
	e.bytes -= gone.bytes
	e.streams = slices.DeleteFunc(e.streams, func(s *stream) bool { return s == gone })
}

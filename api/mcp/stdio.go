package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine is the size of a message in bytes: room for a body of the largest
	// size that REST takes, with escapes.
	maxLine = 4 << 20
	// lastAnswers is how long calls that run have once the client has closed its end.
	lastAnswers = 800 * time.Millisecond
)

// Stdio carries one session over a pair of streams, a message a line. The library's
// own transport ends the session at the first line that is no message, and drops the
// answers that are not written when the client closes its end; this one refuses the
// line, and waits for them a moment.
type Stdio struct {
	in   *bufio.Reader
	out  io.Writer
	last time.Duration // for the last answers

	lines  chan line
	ended  chan struct{} // closed when the client has closed its end
	closed chan struct{} // by Close
	close  sync.Once

	writing chan struct{} // held by who writes

	mu        sync.Mutex
	ids       map[jsonrpc.ID]struct{} // of calls that were read and not answered
	open      int                     // how many of those answers are not written
	finishing bool                    // no more will come
	answered  chan struct{}           // closed when none is open then
	done      sync.Once
}

// line is one line of the client's, without its end.
type line struct {
	text    []byte
	tooLong bool
}

// NewStdio makes the transport of one session. It reads from in, for as long as
// that lasts, and writes nothing but messages to out.
func NewStdio(in io.Reader, out io.Writer) *Stdio {
	return &Stdio{
		in: bufio.NewReaderSize(in, 64<<10), out: out, last: lastAnswers,
		lines: make(chan line), ended: make(chan struct{}), closed: make(chan struct{}),
		writing: make(chan struct{}, 1), answered: make(chan struct{}), ids: map[jsonrpc.ID]struct{}{},
	}
}

// Ended is closed when the client has closed its end.
func (s *Stdio) Ended() <-chan struct{} { return s.ended }

// Connect begins to read. The end of ctx closes the connection, whoever reads the
// other end of it.
func (s *Stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go s.listen()
	return s, nil
}

// SessionID is empty: a server of one session needs none.
func (s *Stdio) SessionID() string { return "" }

// Close ends reading and writing. What hangs in either of the streams is left there.
func (s *Stdio) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}

// listen reads lines until there are no more.
func (s *Stdio) listen() {
	defer close(s.ended)
	for {
		l, err := s.next()
		if len(l.text) > 0 || l.tooLong {
			select {
			case s.lines <- l:
			case <-s.closed:
				return
			}
		}
		if err != nil { // however the stream ended, nobody is there any more
			return
		}
	}
}

// next reads a line. One that is too long is read and thrown away.
func (s *Stdio) next() (l line, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if len(l.text)+len(part) > maxLine {
			l = line{tooLong: true}
		}
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.text = bytes.TrimSpace(l.text)
			return l, err
		}
	}
}

// Read returns the client's next message, and io.EOF once it has closed its end and
// the calls that run are answered, or have had their time.
func (s *Stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, io.EOF
		case l := <-s.lines:
			msg, refusal := l.decode()
			if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && !s.takes(req.ID) {
				// Which the library would leave without an answer. With the id it would
				// pass for that of the other call.
				refusal = refuse(jsonrpc.CodeInvalidRequest, "the id is that of a call that is not answered yet", nil)
			}
			if refusal == nil {
				return msg, nil
			}
			if err := s.write(ctx, refusal); err != nil {
				return nil, err
			}
		case <-s.ended:
			s.finish(ctx)
			return nil, errors.Join(io.EOF, s.Close()) // no more is written
		}
	}
}

// finish waits for answers that are to be written.
func (s *Stdio) finish(ctx context.Context) {
	late := time.NewTimer(s.last)
	defer late.Stop()
	s.mu.Lock()
	s.finishing = true
	s.mu.Unlock()
	s.count(0)
	select {
	case <-s.answered:
	case <-late.C:
	case <-ctx.Done():
	case <-s.closed:
	}
}

// takes counts a call with an id; it does not where one of that id runs.
func (s *Stdio) takes(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, runs := s.ids[id]; runs {
		return false
	}
	s.ids[id] = struct{}{}
	s.open++
	return true
}

// frees says that a call is answered: with the answer in hands its client may use
// the id again.
func (s *Stdio) frees(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, id)
}

// count adds n to the calls that were read and not answered.
func (s *Stdio) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	if s.finishing && s.open <= 0 {
		s.done.Do(func() { close(s.answered) })
	}
}

// Write sends a message.
func (s *Stdio) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Response); ok && r.Error != nil {
		msg = &jsonrpc.Response{ID: r.ID, Error: inOwnWords(r.Error)}
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if res, ok := msg.(*jsonrpc.Response); ok {
		s.frees(res.ID)
		defer s.count(-1)
	}
	return s.write(ctx, text)
}

// write sends one line whole, and gives up waiting for a client that does not read
// when the session ends. What is said after that has nobody to hear it, which is
// io.EOF: to the library the end of the session, where any other error is a failure.
func (s *Stdio) write(ctx context.Context, text []byte) error {
	select {
	case s.writing <- struct{}{}:
	case <-s.closed:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-s.closed: // chance may have chosen the other way
		<-s.writing
		return io.EOF
	default:
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.out.Write(append(text, '\n'))
		<-s.writing
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-s.closed:
		return io.EOF
	}
}

// decode reads a message. For a line that is none it returns the answer.
func (l line) decode() (msg jsonrpc.Message, refusal []byte) {
	switch {
	case l.tooLong:
		return nil, refuse(jsonrpc.CodeInvalidRequest, "the message is too long", nil)
	case !utf8.Valid(l.text): // JSON would silently carry another text
		return nil, refuse(jsonrpc.CodeParseError, "the message is not valid UTF-8", nil)
	case !json.Valid(l.text):
		return nil, refuse(jsonrpc.CodeParseError, "the line is not JSON", nil)
	case l.text[0] == '[':
		return nil, refuse(jsonrpc.CodeInvalidRequest, "send one message a line: batches are no part of the protocol", nil)
	}
	msg, err := jsonrpc.DecodeMessage(l.text)
	if err != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message", l.text)
	}
	if !HasOwnID(l.text) {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "an id is a string or a whole number of at most 53 bits", l.text)
	}
	return msg, nil
}

// HasOwnID reports whether the id of a message, where it is a number, comes back
// as it was sent: of one that is not whole or too large the library makes another.
func HasOwnID(text []byte) bool {
	id := idOf(text)
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && max(n, -n) <= 1<<53 && n != math.MinInt64
}

// idOf is the id of a message, nil where it is neither a string nor a number.
func idOf(text []byte) json.RawMessage {
	var about struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &about) != nil || len(about.ID) == 0 || !bytes.ContainsAny(about.ID[:1], `"-0123456789`) {
		return nil
	}
	return about.ID
}

// refuse is the answer to what is no message, under its id where it has one.
func refuse(code int64, why string, text []byte) []byte {
	id := idOf(text)
	var readable any
	if json.Unmarshal(id, &readable) != nil { // a number that clients could not read either
		id = nil
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		panic(err) // strings and numbers
	}
	return out
}

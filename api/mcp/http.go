package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
	"memd/api/client"
	"memd/guard/fence"
)

// Bounds of the sessions of a Handler.
const (
	idleTimeout    = 30 * time.Minute // without a request
	maxSessions    = 1024
	maxOfOneCaller = 64 // beyond it its longest idle session ends
)

// SessionHeader names the session of a request.
const SessionHeader = "Mcp-Session-Id"

// HandlerOptions are what a Handler needs; Log may be nil.
type HandlerOptions struct {
	REST   http.Handler                                          // answers the calls of the caller in a request's context
	Caller func(*http.Request) memd.Caller                       // whom the gates before the Handler let in
	As     func(context.Context, memd.Caller) context.Context    // puts a caller into a context
	Refuse func(http.ResponseWriter, *http.Request, *memd.Error) // answers a refusal

	Fence   fence.Rules
	Version string
	Log     *slog.Logger
	Now     func() time.Time // nil for time.Now
}

// Handler serves sessions over streamable HTTP. It stands behind gates that let a
// request in and say whose it is; a session belongs to the caller that opened it.
// It is safe for concurrent use.
type Handler struct {
	opts     HandlerOptions
	protocol http.Handler
	now      func() time.Time

	mu       sync.Mutex
	sessions map[string]*hosted   // by id
	left     map[*hosted]struct{} // of which something is left, others among them
	closed   bool
	open     sync.WaitGroup // of left
}

// hosted is a session that is open.
type hosted struct {
	*Server
	owner  string
	caller atomic.Pointer[memd.Caller] // as the last request showed it: rights may change
	ended  chan struct{}               // closed when nothing of it is left

	used    time.Time // the rest is under Handler.mu
	running int       // requests, streams among them
}

type hostedKey struct{}

// NewHandler makes a Handler.
func NewHandler(opts HandlerOptions) *Handler {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	h := &Handler{opts: opts, now: opts.Now, sessions: map[string]*hosted{}, left: map[*hosted]struct{}{}}
	h.protocol = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return r.Context().Value(hostedKey{}).(*hosted).sdk
	}, &sdk.StreamableHTTPOptions{
		EventStore: &events{}, SessionTimeout: idleTimeout,
		DisableLocalhostProtection: true, // the gates know the configured names too
	})
	return h
}

// ServeHTTP answers one request of a session, or opens one.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller := h.opts.Caller(r)
	id := r.Header.Get(SessionHeader)
	body, err := kept(r)
	if err != nil {
		h.opts.Refuse(w, r, err)
		return
	}
	switch {
	case id != "":
		s := h.enter(id, caller)
		if s == nil {
			h.opts.Refuse(w, r, memd.Errorf(memd.CodeNotFound, "there is no such session").WithHint("initialize a new one"))
			return
		}
		status := 0
		if !answered(w, body) {
			status = h.serve(w, r, s)
		}
		h.leave(s)
		if r.Method == http.MethodDelete && status == http.StatusNoContent {
			<-s.ended // or its notes would outlive the answer
		}
	case r.Method == http.MethodPost && answered(w, body):
	case r.Method == http.MethodPost:
		s, err := h.begin(r, body, caller)
		if err != nil {
			h.opts.Refuse(w, r, err)
			return
		}
		h.serve(w, r, s)
		h.leave(s)
		h.watch(r.Context(), s)
	default:
		h.opts.Refuse(w, r, memd.FieldErrorf(memd.CodeInvalidRequest, SessionHeader, "%s is missing", SessionHeader))
	}
}

// serve answers a request within a session, and returns the status.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, s *hosted) int {
	plain := &worded{ResponseWriter: w, refuse: func(e *memd.Error) { h.opts.Refuse(w, r, e) }}
	h.protocol.ServeHTTP(plain, r.WithContext(context.WithValue(r.Context(), hostedKey{}, s)))
	return plain.status
}

// enter finds a session of the caller, nil where it has none of the name.
func (h *Handler) enter(id string, caller memd.Caller) *hosted {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil || s.owner != caller.Name {
		return nil
	}
	s.caller.Store(&caller)
	s.used = h.now()
	s.running++
	return s
}

func (h *Handler) leave(s *hosted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.used = h.now()
	s.running--
}

// begin makes a session for the caller.
func (h *Handler) begin(r *http.Request, body []byte, caller memd.Caller) (*hosted, *memd.Error) {
	defaults, profile, err := settings(r.URL.RawQuery)
	if err != nil {
		return nil, refusalOf(r.Context(), err)
	}
	s := &hosted{owner: caller.Name, ended: make(chan struct{}), used: h.now(), running: 1}
	s.caller.Store(&caller)
	as := func(w http.ResponseWriter, r *http.Request) {
		h.opts.REST.ServeHTTP(w, r.WithContext(h.opts.As(r.Context(), *s.caller.Load())))
	}
	c := client.New(client.Handler(http.HandlerFunc(as)))
	s.Server = New(Options{
		Client:   func(context.Context) *client.Client { return c },
		Caller:   func() memd.Caller { return *s.caller.Load() },
		Defaults: defaults, Profile: profile, Fence: h.opts.Fence, Version: h.opts.Version, Log: h.opts.Log,
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, memd.Errorf(memd.CodeStoreBusy, "the daemon is ending").WithHint("try again when it runs again")
	}
	if initializes(body) { // any other message the library answers, and forgets its session
		h.makeRoom(caller.Name)
		if len(h.sessions) >= maxSessions {
			return nil, memd.Errorf(memd.CodeStoreBusy, "too many sessions are open").WithHint("end those that are not used, or try again later")
		}
		h.sessions[s.session] = s
	}
	h.left[s] = struct{}{}
	h.open.Add(1)
	return s, nil
}

// kept is the message that a request carries, nil for none. It is put back.
func kept(r *http.Request) ([]byte, *memd.Error) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, memd.Errorf(memd.CodeInvalidRequest, "the body did not arrive whole")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// answered answers a message that has no business with the library, and reports
// whether it is one.
func answered(w http.ResponseWriter, body []byte) bool {
	answer, ok := unanswerable(body)
	switch {
	case !ok:
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // who has left hears nothing
	}
	return ok
}

// initializes reports whether a message begins a session.
func initializes(body []byte) bool {
	type message struct{ Method string }
	batch := make([]message, 1)
	if json.Unmarshal(body, &batch[0]) != nil && json.Unmarshal(body, &batch) != nil {
		return false
	}
	return slices.Contains(batch, message{"initialize"})
}

// makeRoom ends the longest idle session of a caller who has as many as it may.
func (h *Handler) makeRoom(owner string) {
	var oldest *hosted
	n := 0
	for _, s := range h.sessions {
		if s.owner != owner {
			continue
		}
		n++
		if oldest == nil || idler(s, oldest) {
			oldest = s
		}
	}
	if n >= maxOfOneCaller {
		delete(h.sessions, oldest.session)
		go oldest.hangUp()
	}
}

// idler reports whether a is to go before b.
func idler(a, b *hosted) bool {
	if (a.running == 0) != (b.running == 0) {
		return a.running == 0
	}
	return a.used.Before(b.used)
}

// hangUp closes the session's connection once its calls are answered.
func (s *hosted) hangUp() {
	for session := range s.sdk.Sessions() {
		_ = session.Close() // what it ends with concerns nobody any more
	}
}

// watch ends the session when its connection does, at once where none came about.
func (h *Handler) watch(ctx context.Context, s *hosted) {
	connections := slices.Collect(s.sdk.Sessions())
	go func() {
		defer h.open.Done()
		for _, c := range connections {
			_ = c.Wait() // however it ends
		}
		h.mu.Lock()
		if h.sessions[s.session] == s {
			delete(h.sessions, s.session)
		}
		h.mu.Unlock()
		s.end(context.WithoutCancel(ctx))
		close(s.ended)
		h.mu.Lock()
		delete(h.left, s)
		h.mu.Unlock()
	}()
	h.mu.Lock()
	late := h.closed || h.sessions[s.session] != s
	h.mu.Unlock()
	if late {
		s.hangUp()
	}
}

// Sessions is how many sessions are open.
func (h *Handler) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Close ends all sessions and opens no more. Calls that run are answered until ctx
// is done, and then given up.
func (h *Handler) Close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	all := slices.Collect(maps.Keys(h.left))
	h.mu.Unlock()
	for _, s := range all {
		defer context.AfterFunc(ctx, s.stop)()
		go s.hangUp()
	}
	h.open.Wait()
}

// settings reads what the address says of a session: agent, project, profile, and
// access any number of times.
func settings(raw string) (d Defaults, profile string, err error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return d, "", memd.Errorf(memd.CodeInvalidRequest, "the query string is not well-formed")
	}
	d = Defaults{Agent: query.Get("agent"), Project: query.Get("project"), Access: query["access"]}
	profile = query.Get("profile")
	for name, values := range query {
		switch name {
		case "agent", "project", "profile":
			if len(values) > 1 {
				return d, "", memd.FieldErrorf(memd.CodeInvalidRequest, name, "%s is given more than once", name)
			}
		case "access":
		default:
			return d, "", memd.Errorf(memd.CodeInvalidRequest, "the address has an unknown query parameter").
				WithHint("agent, project, access and profile are known")
		}
	}
	if err := CheckProfile(profile); err != nil {
		return d, "", err
	}
	return d, profile, d.Check()
}

// CheckProfile refuses what is no profile; "" is the full one.
func CheckProfile(profile string) error {
	if profile != "" && profile != ProfileFull && profile != ProfileCore {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "profile", "profile must be %s or %s", ProfileFull, ProfileCore)
	}
	return nil
}

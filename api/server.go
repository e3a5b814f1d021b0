package api

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"memd/api/mcp"
	"memd/configs"
	"memd/groom"
	"memd/guard"
	"memd/guard/fence"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// Options are what a Server needs. Tokens may be nil where only Local is
// served or AuthNone is set; Limits, Log and Now have defaults, what says how to
// listen may be left out; the rest is needed.
type Options struct {
	Tiers  *tiers.Service
	Recall *recall.Engine
	Groom  *groom.Runner
	Audit  *groom.Auditor
	Store  *store.Set
	Tokens *guard.Tokens

	Hosts    []string // names and addresses accepted in Host beside the loopback ones, without port
	AuthNone bool     // no token is asked for; Serve refuses it beyond loopback

	TLS          *tls.Config // of TCP; nil for plain HTTP, which Serve refuses beyond loopback
	TLSElsewhere bool        // a proxy in front speaks TLS, so that it does not

	Peers  guard.Peers    // who may use a unix socket; empty: whoever can open it, as its administrator
	Limits configs.Limits // zero for the defaults

	Notice func(context.Context) // brings the log up to date before it is read; nil for nothing

	Fence fence.Rules // of what MCP hands to a model

	Version string // of the daemon, for people
	Log     *slog.Logger
	// Now measures how long things take: its times must carry a monotonic
	// reading, as those of time.Now do, and not be cut to what a store keeps.
	Now func() time.Time
}

// Server answers the calls of the contract. It is safe for concurrent use.
type Server struct {
	tiers   *tiers.Service
	engine  *recall.Engine
	runner  *groom.Runner
	auditor *groom.Auditor
	store   *store.Set
	tokens  *guard.Tokens

	rates    *guard.Rates
	failures *guard.Failures
	places   chan struct{} // one for each request that runs
	conns    int           // open connections of one listener
	bounds   bounds

	peers        guard.Peers
	tls          *tls.Config
	tlsElsewhere bool

	authNone bool
	hosts    map[string]bool // accepted in Host beside loopback addresses, canonical
	notice   func(context.Context)
	version  string
	log      *slog.Logger
	now      func() time.Time
	wall     func() time.Time // what deadlines of connections are counted by

	mux     *chi.Mux
	mcp     *mcp.Handler
	table   []route
	metrics *metrics
	ready   readiness
	use     *use
	openapi []byte // the OpenAPI document
	docs    page   // the same for people

	halt   chan struct{} // closed by Close
	closed sync.Once
}

// New makes a Server. It neither listens nor reads the store yet.
func New(opts Options) *Server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Limits == (configs.Limits{}) {
		opts.Limits = configs.DefaultLimits()
	}
	s := &Server{
		tiers: opts.Tiers, engine: opts.Recall, runner: opts.Groom, auditor: opts.Audit, store: opts.Store, tokens: opts.Tokens,
		authNone: opts.AuthNone, version: opts.Version, notice: opts.Notice, log: opts.Log, now: opts.Now, wall: time.Now,
		rates: guard.NewRates(opts.Limits.Rate, opts.Limits.Burst), failures: guard.NewFailures(opts.Limits.AuthFailures),
		places: make(chan struct{}, opts.Limits.Requests), conns: opts.Limits.Connections, bounds: patient,
		peers: opts.Peers, tls: opts.TLS, tlsElsewhere: opts.TLSElsewhere,
		hosts:   map[string]bool{"localhost": true},
		mux:     chi.NewRouter(),
		metrics: newMetrics(&opts),
		use:     newUse(),
		halt:    make(chan struct{}),
	}
	for _, host := range opts.Hosts {
		s.hosts[canonical(host)] = true
	}
	s.mcp = s.newMCP(&opts)
	s.metrics.sessions = s.mcp.Sessions
	s.mount()
	return s
}

// Local returns the handler for whoever needs no token: the unix socket, which
// its owner alone can open, and the command line within the same process. Its
// caller is memd.LocalAdmin.
func (s *Server) Local() http.Handler { return s.outer(local(s.mux)) }

// Remote returns the handler for TCP. A foreign Host or Origin is refused
// before anything else is looked at, then a missing or unknown token.
func (s *Server) Remote() http.Handler {
	return s.outer(s.sameOrigin(s.crowded(s.authenticate(s.limited(s.used(s.mux))))))
}

// unix returns the handler for a unix socket.
func (s *Server) unix() http.Handler {
	if len(s.peers) > 0 {
		return s.outer(s.crowded(s.identify(s.used(s.mux))))
	}
	return s.outer(s.crowded(local(s.used(s.mux))))
}

// mount puts the table's routes and those beside it on the router, and writes
// the documents that describe them.
func (s *Server) mount() {
	s.mux.Use(getForHead)
	s.mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, noRoute())
	})
	s.mux.MethodNotAllowed(s.methodNotAllowed)

	doc := newDocument(s.version)
	contract := humachi.New(s.mux, huma.Config{OpenAPI: doc})
	s.table = s.routes()
	for _, rt := range s.table {
		op := rt.operation(doc.Components.Schemas)
		doc.AddOperation(op)
		contract.Adapter().Handle(op, func(hc huma.Context) { s.serve(rt, hc) })
	}
	for _, b := range s.beside() {
		doc.AddOperation(b.operation(doc.Components.Schemas))
		s.mux.Method(b.method, b.path, b.serve)
	}
	s.openapi = encodeDocument(doc)
	s.docs = docsPage(s.table, s.beside(), s.version)
}

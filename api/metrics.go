package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"memd"
	"memd/recall"
	"memd/store"
)

// metrics are the daemon's own registry. Labels are words from fixed lists:
// never an id, a namespace or a text.
type metrics struct {
	http.Handler
	requests  *prometheus.CounterVec   // by route, method, status
	durations *prometheus.HistogramVec // by route and method, in seconds
	recalls   *prometheus.CounterVec   // by outcome
	failures  *prometheus.CounterVec   // of authentication, by reason
	limits    *prometheus.CounterVec   // requests turned away, by limit
	refusals  *prometheus.CounterVec   // by code
	sessions  func() int               // that are open at /mcp; set before anything is served
}

func newMetrics(opts *Options) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memd_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "memd_http_request_duration_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"route", "method"}),
		recalls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memd_recall_total", Help: "Recalls that were answered, by what came of them.",
		}, []string{"outcome"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memd_auth_failures_total", Help: "Requests of nobody who may ask, by why.",
		}, []string{"reason"}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "memd_rate_limited_total", Help: "Requests turned away by a limit, by which.",
		}, []string{"limit"}),
	}
	m.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "memd_refused_total", Help: "Requests refused, by the code of the refusal.",
	}, []string{"code"})
	for _, code := range codes {
		m.refusals.WithLabelValues(string(code))
	}
	for counter, labels := range map[*prometheus.CounterVec][]string{
		m.recalls:  {"hit", "empty", "filtered", "degraded"},
		m.failures: {"missing", "invalid", "peer"},
		m.limits:   {"caller", "address", "requests", "connections"},
	} {
		for _, label := range labels {
			counter.WithLabelValues(label) // 0 from the start, so that the first one is seen to rise
		}
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "memd_build_info", Help: "Always 1.", ConstLabels: prometheus.Labels{"version": opts.Version},
	})
	build.Set(1)
	sessions := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "memd_mcp_sessions", Help: "Sessions of the Model Context Protocol that are open at /mcp.",
	}, func() float64 { return float64(m.sessions()) })
	reg := prometheus.NewRegistry()
	reg.MustRegister(sessions, m.requests, m.durations, m.recalls, m.failures, m.limits, m.refusals, build, storeCollector{opts.Store}, selectorCollector{opts.Recall}, groomCollector{opts.Groom}, guardCollector{opts.Tiers},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, DisableCompression: true,
	})
	return m
}

// served counts an answer. Requests that reached no route share one label.
func (m *metrics) served(route, method string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	method = knownMethod(method)
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(route, method).Observe(took.Seconds())
}

// refused counts a refusal.
func (m *metrics) refused(code memd.Code) { m.refusals.WithLabelValues(string(code)).Inc() }

// recalled counts a recall that was answered by what came of it. An answer that
// may lack something is degraded, whatever it holds: it says nothing of what
// there is to find.
func (m *metrics) recalled(a memd.Answer) {
	outcome := "empty"
	switch {
	case len(a.Degraded) > 0:
		outcome = "degraded"
	case len(a.Results) > 0:
		outcome = "hit"
	case a.EmptyReason == memd.EmptyAllFiltered:
		outcome = "filtered"
	}
	m.recalls.WithLabelValues(outcome).Inc()
}

// authFailed counts a request of nobody who may ask.
func (m *metrics) authFailed(reason string) { m.failures.WithLabelValues(reason).Inc() }

// limited counts a request that a limit turned away.
func (m *metrics) limited(limit string) { m.limits.WithLabelValues(limit).Inc() }

// selectorCollector reads what became of the queries that went to a selector.
type selectorCollector struct{ engine *recall.Engine }

// Describe sends nothing: the metrics are those that Collect finds.
func (selectorCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the counts.
func (c selectorCollector) Collect(out chan<- prometheus.Metric) {
	n := c.engine.Selections()
	desc := prometheus.NewDesc("memd_selector_total", "Queries that went to the selector, by what came of them.", []string{"outcome"}, nil)
	out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n.Answered), "answered")
	out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n.Failed), "failed")
}

// storeCollector reads the store's state when it is scraped.
type storeCollector struct{ store *store.Set }

// scrapeTimeout bounds how long a scrape waits for a reader.
const scrapeTimeout = 2 * time.Second

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe sends nothing: the metrics are those that Collect finds.
func (storeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the state of the store; memd_store_readable tells whether it
// could be read.
func (c storeCollector) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	send(gauge("memd_read_queue", "Reads that wait for a reader."), float64(c.store.ReadQueue()))
	readable := gauge("memd_store_readable", "Whether the state of the store could be read: 1 or 0.")
	st, err := c.store.Stats(ctx)
	if err != nil {
		send(readable, 0)
		return
	}
	send(readable, 1)
	rows := gauge("memd_rows", "Rows of a tier.", "tier")
	for _, t := range st.Tiers {
		send(rows, float64(t.Rows), string(t.Tier))
	}
	var used, free, wal int64
	for _, f := range st.Databases {
		used, free, wal = used+f.UsedBytes, free+f.FreeBytes, wal+f.WALBytes
	}
	bytes := gauge("memd_store_bytes", "Bytes of all databases: in pages used and free, and in write-ahead logs.", "state")
	send(bytes, float64(used), "used")
	send(bytes, float64(free), "free")
	send(bytes, float64(wal), "wal")
	send(gauge("memd_databases", "Databases, the active one included."), float64(len(st.Databases)))
	send(gauge("memd_heads", "Keys with a current memory."), float64(st.Heads))
	send(gauge("memd_vectors", "Vectors kept."), float64(st.Embedder.Vectors))
	send(gauge("memd_vectors_pending", "Rows that wait for a vector."), float64(st.Embedder.Pending))
	send(gauge("memd_vectors_parked", "Rows whose vectors were refused too often to be asked for again."), float64(st.Embedder.Parked))
	collectLastGrooms(c.store.Now(), st, send)
	if at, err := memd.ParseTime(st.LastBackupAt); err == nil {
		send(gauge("memd_last_backup_timestamp_seconds", "When the last backup was made; absent where none was."), float64(at.UnixMilli())/1000)
	}
	send(gauge("memd_write_queue", "Writes that wait."), float64(st.QueueDepth))
}

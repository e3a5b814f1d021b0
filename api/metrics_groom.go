package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"memd"
	"memd/groom"
	"memd/store"
)

// The kinds of a groom, as labels.
const (
	fullGroom  = "full"
	lightGroom = "light"
)

// groomCollector reads what the grooms of this process came to.
type groomCollector struct{ runner *groom.Runner }

// Describe sends nothing: the metrics are those that Collect finds.
func (groomCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the counts, 0 from the start.
func (c groomCollector) Collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	const counter = prometheus.CounterValue
	sum := c.runner.Totals()
	runs := prometheus.NewDesc("memd_groom_runs_total", "Grooms that ended, by kind and by whether every pass succeeded.", []string{"kind", "outcome"}, nil)
	for kind, n := range map[string]groom.Outcomes{fullGroom: sum.Full, lightGroom: sum.Light} {
		send(counter, runs, float64(n.Whole), kind, "whole")
		send(counter, runs, float64(n.Failed), kind, "failed")
	}
	rows := prometheus.NewDesc("memd_groom_rows_total", "Rows that a pass of a groom changed.", []string{"pass"}, nil)
	skipped := prometheus.NewDesc("memd_groom_skipped_total", "Rows that a pass of a groom left alone, for they had changed since it was planned.", []string{"pass"}, nil)
	seconds := gauge("memd_groom_pass_seconds", "How long a pass took when it last ran; absent where it has not yet.", "pass")
	for name, p := range sum.Passes {
		send(counter, rows, float64(p.Changed), name)
		send(counter, skipped, float64(p.Skipped), name)
		if p.Ran {
			send(prometheus.GaugeValue, seconds, p.MS/1000, name)
		}
	}
	send(counter, prometheus.NewDesc("memd_groom_freed_bytes_total", "Bytes that grooms gave back to the file system.", nil, nil), float64(sum.Freed))
	running := 0.
	if c.runner.Running() != nil {
		running = 1
	}
	send(prometheus.GaugeValue, gauge("memd_groom_running", "Whether a groom is under way: 1 or 0."), running)
}

// collectLastGrooms sends when grooms were last whole, in whatever process: absent
// where none was.
func collectLastGrooms(now memd.Time, st store.Stats, send func(*prometheus.Desc, float64, ...string)) {
	at := gauge("memd_groom_last_success_timestamp_seconds", "When the last whole groom ended; a full one is a light one too.", "kind")
	age := gauge("memd_groom_last_success_age_seconds", "How long ago that was.", "kind")
	for kind, text := range map[string]string{fullGroom: st.LastGroomAt, lightGroom: st.LastLightGroomAt} {
		if last, err := memd.ParseTime(text); err == nil {
			send(at, float64(last.UnixMilli())/1000, kind)
			send(age, now.Sub(last.Time).Seconds(), kind)
		}
	}
}

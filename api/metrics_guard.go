package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"memd/tiers"
)

// guardCollector reads what the guards found in this process. A label is the id of
// a rule.
type guardCollector struct{ tiers *tiers.Service }

// Describe sends nothing: the metrics are those that Collect finds.
func (guardCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the counts. A rule that found nothing yet has none.
func (c guardCollector) Collect(out chan<- prometheus.Metric) {
	found := c.tiers.GuardCounts()
	for _, of := range []struct {
		name, help string
		counts     map[string]int64
	}{
		{"memd_guard_blocked_total", "Secrets and personal data for which a write was refused, by rule.", found.Blocked},
		{"memd_guard_redacted_total", "Secrets and personal data that were taken out of what was written, by rule.", found.Redacted},
	} {
		desc := prometheus.NewDesc(of.name, of.help, []string{"rule"}, nil)
		for rule, n := range of.counts {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), rule)
		}
	}
	allowed := prometheus.NewDesc("memd_guard_allowed_total", "Secrets that an allow-list let pass.", nil, nil)
	out <- prometheus.MustNewConstMetric(allowed, prometheus.CounterValue, float64(found.Allowed))
}

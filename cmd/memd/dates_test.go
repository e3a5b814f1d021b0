package main

import (
	"regexp"
	"strings"
	"testing"
)

// The configuration reaches the door, with a daemon and without: the two zones are 25
// hours apart, so that it is never the same day in both.
func TestDatesAreConfigured(t *testing.T) {
	form := regexp.MustCompile(`^Ship it today \((\d{4}-\d\d-\d\d)\)$`)
	days := map[string]bool{}
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} {
		b := newBox(t)
		b.env = append(b.env, "MEMD_DATES_TIME_ZONE="+zone)
		found := form.FindStringSubmatch(b.field("summary", "remember", "Ship it today"))
		if found == nil {
			t.Fatalf("in %s: no date", zone)
		}
		days[found[1]] = true
		if out := b.must("config"); !strings.Contains(out, "dates.time_zone") || !strings.Contains(out, zone) || !strings.Contains(out, "dates.absolute") {
			t.Errorf("memd config does not show it: %s", out)
		}
		d := b.serve()
		said := b.field("summary", "remember-long-term", "Ship it today", "--key", "ship", "--source", "docs/plan.md", "--kind", "project", "--why", "w", "--how-to-apply", "h")
		if form.FindStringSubmatch(said) == nil {
			t.Errorf("over the socket: %q", said)
		}
		d.stop()
	}
	if len(days) != 2 {
		t.Errorf("both zones have the day %v", days)
	}
	b := newBox(t)
	b.env = append(b.env, "MEMD_DATES_ABSOLUTE=false")
	if said := b.field("summary", "remember", "Ship it today"); said != "Ship it today" {
		t.Errorf("switched off: %q", said)
	}
	env := b.env
	defer func() { b.env = env }()
	b.env = append(b.env, "MEMD_DATES_TIME_ZONE=nowhere")
	if r := b.run("config"); r.code != 2 || !strings.Contains(r.err, "dates.time_zone") {
		t.Errorf("an unknown zone: exit %d: %s", r.code, r.err)
	}
}

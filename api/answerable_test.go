package api

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// An empty answer says whether nothing matches or the request kept it out.
func TestEmptyReasons(t *testing.T) {
	d := start(t, nil, nil)
	d.short("the gateway listens on port 8443")
	for body, want := range map[string]memd.EmptyReason{
		`{"query":"zebra"}`:                                memd.EmptyNoMatch,
		`{"query":""}`:                                     memd.EmptyNoMatch,
		`{"query":"gateway","kinds":["rule"]}`:             memd.EmptyAllFiltered,
		`{"query":"gateway","tags":["ci"]}`:                memd.EmptyAllFiltered,
		`{"query":"gateway","tiers":["long"]}`:             memd.EmptyAllFiltered,
		`{"query":"gateway","namespaces":["project/x"]}`:   memd.EmptyAllFiltered,
		`{"query":"gateway"}`:                              "",
		`{"query":"gateway","kinds":["event"],"limit":10}`: "",
	} {
		var a memd.Answer
		d.post("/v1/recall", body).want(http.StatusOK).into(&a)
		if a.EmptyReason != want || (len(a.Results) == 0) != (want != "") || len(a.Degraded) != 0 {
			t.Errorf("%s: %d results, reason %q, want %q, degraded %q", body, len(a.Results), a.EmptyReason, want, a.Degraded)
		}
	}
}

// Where a database cannot be read an empty answer does not claim that there is
// nothing, and recalls count as degraded.
func TestEmptyBecauseALegFailed(t *testing.T) {
	s := withoutHistory(t)
	d := start(t, func(o *Options) {
		o.Store, o.Tiers, o.Recall, o.Groom = s, tiers.New(s), recall.New(s, nil), groom.New(s, nil)
	}, nil)
	for query, found := range map[string]int{"damson": 0, "kumquat": 1} {
		var a memd.Answer
		d.post("/v1/recall", `{"query":"`+query+`"}`).want(http.StatusOK).into(&a)
		if len(a.Results) != found || (a.EmptyReason == memd.EmptyLegFailed) != (found == 0) || len(a.Degraded) != 1 {
			t.Errorf("%s: %d results, reason %q, degraded %q", query, len(a.Results), a.EmptyReason, a.Degraded)
		}
	}
	if text := string(d.get("/metrics").want(http.StatusOK).Body); !strings.Contains(text, `memd_recall_total{outcome="degraded"} 2`) {
		t.Errorf("the metrics count no two degraded recalls: %s", text)
	}
}

// withoutHistory is a store that holds a kumquat, and whose database with a
// damson is gone. It is damaged on purpose, so memtest does not open it.
func withoutHistory(t *testing.T) *store.Set {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	open := func() *store.Set {
		s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	remember := func(s *store.Set, summary string) {
		if _, err := tiers.New(s).Remember(ctx, memd.LocalAdmin(), memd.Remember{Summary: summary}); err != nil {
			t.Fatal(err)
		}
	}
	s := open()
	remember(s, "damson")
	rolled, err := s.Rollover(ctx)
	if err != nil {
		t.Fatal(err)
	}
	remember(s, "kumquat")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, rolled.File)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	return open()
}

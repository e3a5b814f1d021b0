package store_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
	"memd/store/vectorfill"
)

// reading is one method of View whose statements are to be explained.
type reading struct {
	name  string
	scans string // tables it may read from end to end, separated by spaces
	run   func(*store.View) error
}

// readings are all that recall, context and the calls by id or key read with.
func readings(asked store.Vector) []reading {
	list := []reading{
		{"Corpus", "", func(v *store.View) error { _, _, err := v.Corpus(); return err }},
		{"DocFreqs", "", func(v *store.View) error { _, err := v.DocFreqs([]string{"word"}); return err }},
		{"Superseded", "", func(v *store.View) error { _, err := v.Superseded(match("word"), scope(), 10); return err }},
		{"HasHead", "", func(v *store.View) error { _, err := v.HasHead(scope(), "default", "k"); return err }},
		{"Pinned", "long", func(v *store.View) error { _, err := v.Pinned(scope(), []memd.Kind{memd.Rule}); return err }},
		{"Valued", "short", func(v *store.View) error { _, err := v.Valued(scope(), 7, 3, 10); return err }},
		{"Latest", "short", func(v *store.View) error { _, err := v.Latest(scope(), 10); return err }},
		{"Get", "", func(v *store.View) error { _, _, err := v.Get("x"); return err }},
		{"Head", "", func(v *store.View) error { _, _, err := v.Head("default", "k"); return err }},
		{"Versions", "", func(v *store.View) error { _, err := v.Versions("default", "k"); return err }},
		{"Notes", "", func(v *store.View) error { _, err := v.Notes("s", scope().Now); return err }},
		{"SessionOwner", "", func(v *store.View) error { _, err := v.SessionOwner("s"); return err }},
		{"Meta", "", func(v *store.View) error { _, err := v.Meta("embedder"); return err }},
	}
	list = append(list,
		// Of the outbox the newest that may be leased, along its index. Of the short
		// tier are most rows: all bits are read once, and rows by their ids.
		reading{"Nearest", "embedding", func(v *store.View) error {
			_, err := v.Nearest(memd.Short, asked, scope(), store.Filter{}, 10)
			return err
		}},
		reading{"Nearest archive", "archive", func(v *store.View) error {
			_, err := v.Nearest(memd.Archive, asked, scope(), store.Filter{}, 10)
			return err
		}},
		reading{"Nearest of one that is elsewhere", "short embedding", func(v *store.View) error {
			sc := scope()
			sc.Namespaces = []string{"project/x"}
			_, err := v.Nearest(memd.Short, asked, sc, store.Filter{}, 1)
			return err
		}},
		reading{"Waiting", "outbox", func(v *store.View) error { return v.Waiting() }},
		reading{"Lacking", "", func(v *store.View) error { return v.Lacking() }},
		reading{"Cosines", "", func(v *store.View) error { _, err := v.Cosines(asked, []string{row(memd.Short, 1, "").ID}); return err }},
		reading{"RemovedNear", "e", func(v *store.View) error {
			return v.RemovedNear(asked, -1, scope(), store.Filter{}, memd.LocalAdmin(), 10, func(memd.Tier, string, string) {})
		}},
	)
	for _, t := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
		list = append(list,
			reading{"Postings " + string(t), "", func(v *store.View) error {
				return v.Postings(t, nil, match("word 中文"), func(store.Loc) {})
			}},
			reading{"Removed " + string(t), "", func(v *store.View) error {
				return v.Removed(t, match("word"), scope(), store.Filter{}, memd.LocalAdmin(), 100, func(_, _ string) {})
			}},
			reading{"Load " + string(t), "", func(v *store.View) error {
				_, err := v.Load(t, []store.Loc{{RID: 1}}, scope(), store.Filter{Kinds: []memd.Kind{memd.Fact}, Tags: []string{"x"}})
				return err
			}},
			reading{"LoadNewest " + string(t), "", func(v *store.View) error {
				_, err := v.LoadNewest(t, []store.Loc{{RID: 1}}, scope(), store.Filter{Kinds: []memd.Kind{memd.Fact}, Tags: []string{"x"}}, 1)
				return err
			}},
			reading{"Expired " + string(t), "", func(v *store.View) error { _, err := v.Matching(store.Expired(t, scope().Now)); return err }},
		)
	}
	for _, t := range memd.AllTiers() {
		list = append(list, reading{"List " + string(t), string(t) + " session", func(v *store.View) error {
			_, err := v.List(store.Selection{Scope: scope(), Tiers: []memd.Tier{t}, Sessions: "me", Limit: 10})
			return err
		}})
	}
	return list
}

// tables are those that may be large; e is the embedding table as statements call
// it beside others.
var tables = []string{"transient", "short", "long", "archive", "head", "session", "access_log", "moved",
	"embedding", "e", "outbox", "audit", "tombstone", "pitfall_hit"}

// writings are the statements that every write looks before it leaps with.
func writings() []writing {
	return []writing{
		{"FindContent", "", func(tx *store.Tx) error {
			return eachTier(func(t memd.Tier) error {
				_, err := tx.FindContent(t, "default", row(t, 1, "x").ContentHash)
				return err
			})
		}},
		{"Delete", "", func(tx *store.Tx) error {
			return eachTier(func(t memd.Tier) error { _, err := tx.Delete(t, "none"); return err })
		}},
		{"UpdateMeta", "", func(tx *store.Tx) error {
			return eachTier(func(t memd.Tier) error { m := row(t, 1000, "x"); return tx.UpdateMeta(&m) })
		}},
		{"Versions", "", func(tx *store.Tx) error { _, err := tx.Versions("default", "k"); return err }},
		{"Rows", "", func(tx *store.Tx) error { _, err := tx.Rows(memd.Short); return err }},
		{"SessionOwner", "", func(tx *store.Tx) error { _, err := tx.SessionOwner("s"); return err }},
		{"Fold", "", func(tx *store.Tx) error { _, err := tx.Fold("none"); return err }},
		{"EndSession", "", func(tx *store.Tx) error { return tx.EndSession("none") }},
	}
}

type writing struct {
	name, scans string
	run         func(*store.Tx) error
}

func eachTier(fn func(memd.Tier) error) error {
	for _, t := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}

// Every statement starts from the index it is meant to start from, with or
// without statistics in the database: nothing but a list reads a tier from end
// to end, and a keyword search runs its MATCH once, first.
func TestPlans(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive, memd.Transient} {
		put(t, s, row(tier, n, "a word 中文"))
	}
	for n := range 40 {
		put(t, s, row(memd.Short, 10+n, "word "+fmt.Sprint(n)))
	}
	if err := vectorfill.Write(ctx, s.Dir(), sixty); err != nil {
		t.Fatal(err)
	}
	for _, statistics := range []string{"none", "of a small store"} {
		if statistics != "none" {
			shell(t, s.Dir(), `ANALYZE`)
		}
		if err := s.Close(); err != nil { // statistics are read at the next open
			t.Fatal(err)
		}
		s = memtest.Store(t, s.Dir(), nil, nil)
		t.Run("statistics "+statistics, func(t *testing.T) {
			for _, r := range readings(vectorOf(t, sixty, "word")) {
				t.Run(r.name, func(t *testing.T) {
					for range 8 { // until a connection serves that has not compiled it yet
						explained := 0
						view(t, s, func(v *store.View) (err error) {
							explained, err = explain(t, v.Explainer(), r.scans, func() error { return r.run(v) })
							return err
						})
						if explained > 0 {
							return
						}
					}
					t.Error("no statement was explained")
				})
			}
			for _, w := range writings() {
				t.Run("write "+w.name, func(t *testing.T) {
					write(t, s, func(tx *store.Tx) error {
						_, err := explain(t, tx.Explainer(), w.scans, func() error { return w.run(tx) })
						return err
					})
				})
			}
		})
	}
}

// explain judges the statements that run compiles, and returns how many.
func explain(t *testing.T, e store.Explainer, scans string, run func() error) (int, error) {
	before := e.Statements()
	if err := run(); err != nil {
		return 0, err
	}
	explained := 0
	for _, text := range e.Statements() {
		if slices.Contains(before, text) {
			continue
		}
		plan, err := e.Plan(text)
		if err != nil {
			return explained, err
		}
		explained++
		judge(t, scans, text, plan)
	}
	return explained, nil
}

// judge holds one plan against what it should do.
func judge(t *testing.T, scans, text, plan string) {
	steps := strings.Split(plan, "\n")
	if steps[0] == "CO-ROUTINE f" { // the search, cut to a number of rows
		steps = steps[1:]
	}
	if strings.Contains(text, " MATCH ") && !searchFirst.MatchString(steps[0]) {
		t.Errorf("the search does not come first:\n%s\n%s", text, plan)
	}
	if n := strings.Count(plan, "_fts VIRTUAL TABLE"); n > strings.Count(text, " MATCH ") {
		t.Errorf("the search runs more than once:\n%s\n%s", text, plan)
	}
	for _, step := range steps {
		m := endToEnd.FindStringSubmatch(step)
		if m != nil && slices.Contains(tables, m[1]+m[2]) && !slices.Contains(strings.Fields(scans), m[1]+m[2]) {
			t.Errorf("reads much of %s:\n%s\n%s", m[1]+m[2], text, plan)
		}
	}
}

var (
	searchFirst = regexp.MustCompile(`^SCAN [a-z]+_fts VIRTUAL TABLE INDEX \d+:M\d`)
	// A scan, or a search for no more than the namespace, which may hold all.
	endToEnd = regexp.MustCompile(`^(?:SCAN ([a-z_]+)\b(?: USING|$)|SEARCH ([a-z_]+) USING .*\(namespace=\?\)$)`)
)

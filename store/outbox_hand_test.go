package store_test

import (
	"fmt"
	"testing"

	"memd"
	"memd/store"
)

// Summaries changed by hand lose their vectors at once and wait for others: in
// the active database from then on, in a historical one, whose triggers reach no
// other file, from when the row is indexed anew. Other columns change nothing.
func TestHandEditsQueue(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	tiers := []memd.Tier{memd.Short, memd.Long, memd.Archive}
	for n, tier := range tiers {
		put(t, s, row(tier, n, fmt.Sprint("an old row ", n)))
	}
	roll(t, s)
	for n, tier := range tiers {
		put(t, s, row(tier, 10+n, fmt.Sprint("a new row ", n)))
	}
	drain(t, s, hashed)
	old := historyFile(t, s.Dir())
	counts := func() string {
		return shell(t, s.Dir(), `SELECT (SELECT count(*) FROM embedding) || ' ' || (SELECT count(*) FROM outbox)`) + " " +
			shellFile(t, old, `SELECT (SELECT count(*) FROM embedding) || ' ' || (SELECT count(*) FROM outbox)`)
	}
	expect := func(when, want string) {
		t.Helper()
		if got := counts(); got != want {
			t.Errorf("%s: vectors and rows that wait are %s, want %s", when, got, want)
		}
	}
	expect("embedded", "3 0 3 0")
	for _, tier := range tiers {
		change := `UPDATE ` + string(tier) + ` SET importance = 9, tags = '["x"]'`
		shell(t, s.Dir(), change)
		shellFile(t, old, change)
	}
	expect("other columns", "3 0 3 0")
	for _, tier := range tiers {
		change := `UPDATE ` + string(tier) + ` SET summary = summary || ' by hand'`
		shell(t, s.Dir(), change)
		shellFile(t, old, change)
	}
	expect("summaries", "0 3 0 3")
	if n := drain(t, s, hashed); n != 3 {
		t.Errorf("%d rows of the active database waited, want 3", n)
	}
	var ids []string
	view(t, s, func(v *store.View) (err error) { ids, err = v.Edited(100); return err })
	write(t, s, func(tx *store.Tx) error {
		for _, id := range ids {
			m, _, err := tx.Get(id)
			if err == nil {
				err = tx.Reindex(&m)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	expect("indexed anew", "3 3 0 0")
	if n := drain(t, s, hashed); n != 3 {
		t.Errorf("%d rows of the historical database waited, want 3", n)
	}
	expect("embedded again", "3 0 3 0")
	healthy(t, s)
}

// No transient row ever has a vector or waits for one, whatever becomes of it
// and of others.
func TestTransientRowsHaveNoVector(t *testing.T) {
	dir := t.TempDir()
	s := openEmbedding(t, dir, nil, hashed, nil)
	none := func(when string) {
		t.Helper()
		for _, table := range []string{"embedding", "outbox"} {
			if got := shell(t, dir, `SELECT count(*) FROM `+table+` WHERE memory_id IN (SELECT id FROM transient)`); got != "0" {
				t.Errorf("%s: %s transient rows in %s", when, got, table)
			}
		}
	}
	notes := []memd.Memory{row(memd.Transient, 1, "one"), row(memd.Transient, 2, "two"), row(memd.Transient, 3, "three")}
	put(t, s, notes...)
	put(t, s, row(memd.Short, 10, "ten"))
	none("written")
	if n := drain(t, s, hashed); n != 1 {
		t.Errorf("%d rows were embedded, want 1", n)
	}
	none("embedded")
	shell(t, dir, `UPDATE transient SET summary = 'by hand' WHERE id = '`+notes[0].ID+`'`)
	none("edited by hand")
	write(t, s, func(tx *store.Tx) error {
		m, _, err := tx.Get(row(memd.Short, 10, "").ID)
		if err != nil {
			return err
		}
		m.Tier, m.MemoryKey, m.Version, m.Source, m.VerifiedAt = memd.Long, "k", 1, "AGENTS.md", m.CreatedAt
		if err := tx.Move(&m, memd.Short); err != nil {
			return err
		}
		return tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID})
	})
	if n := vectors(t, s, memd.Long); n != 1 {
		t.Errorf("a promoted row has %d vectors", n)
	}
	none("another promoted")
	roll(t, s)
	none("rolled over")
	must(t, s.Close())
	s = openEmbedding(t, dir, nil, hashed, nil)
	drain(t, s, hashed)
	none("looked through")
	write(t, s, func(tx *store.Tx) error { return tx.EndSession("s") })
	if got := shell(t, dir, `SELECT (SELECT count(*) FROM transient) || (SELECT count(*) FROM outbox)`); got != "00" {
		t.Errorf("after the end of the session transient rows and rows that wait are %s", got)
	}
	healthy(t, s)
}

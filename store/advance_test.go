package store

import (
	"context"
	"path/filepath"
	"testing"
)

// lax is a database whose rows may be such as no index can read.
func lax(t *testing.T) (*conn, func(query string)) {
	t.Helper()
	ctx := context.Background()
	c, err := connect(ctx, filepath.Join(t.TempDir(), "lax.db"), "rwc", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	run := func(query string) {
		t.Helper()
		if _, err := c.exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE moved (seq INTEGER PRIMARY KEY, tier, rid)`)
	for _, tier := range indexed {
		run(on(tier, `CREATE TABLE {t} (rid INTEGER PRIMARY KEY, id, namespace, summary, why, how_to_apply, memory_key, tags, kind, source, owner, session_id)`))
	}
	run(`INSERT INTO long (rid, id, namespace, summary, kind) VALUES (1, 'a', 'n', 'alpha', 'k'), (2, 'b', NULL, 'alpha', 'k'), (3, 'c', 'n', 'alpha', 'k')`)
	return c, run
}

// A row that could not be read is neither passed over nor are those before it
// read twice.
func TestAdvanceAfterFault(t *testing.T) {
	c, run := lax(t)
	e := &extent{last: [len(indexed)]int64{3, noRow, noRow}}
	x := newIndex(e)
	if err := x.advance(context.Background(), c, e, indexStep); err == nil {
		t.Fatal("a row without a namespace was read")
	}
	run(`UPDATE long SET namespace = 'n'`)
	if err := x.advance(context.Background(), c, e, indexStep); err != nil {
		t.Fatal(err)
	}
	if rows := x.tiers[0].layers[0].Rows().Len(); rows != 3 || !x.covers(e) {
		t.Errorf("%d rows, want 3", rows)
	}
}

// That another View has brought an index further than the one that makes it
// reads is no reason to begin anew; that moved goes back is.
func TestStepBehindAnotherView(t *testing.T) {
	c, run := lax(t)
	run(`UPDATE long SET namespace = 'n'`)
	ctx := context.Background()
	early := &extent{last: [len(indexed)]int64{3, noRow, noRow}}
	x := newIndex(early)
	run(`INSERT INTO moved VALUES (1, 'long', 2)`)
	late := &extent{seq: 1, last: early.last}
	if err := x.advance(ctx, c, late, indexStep); err != nil {
		t.Fatal(err)
	}
	if state, err := x.step(ctx, c, early, 0); state != indexBegun || err != nil {
		t.Errorf("state %v, %v", state, err)
	}
	if state, err := x.step(ctx, c, late, x.heeds()); state != indexMade || err != nil {
		t.Errorf("state %v, %v", state, err)
	}
	if state, err := x.step(ctx, c, early, x.heeds()); state != indexLost || err != nil {
		t.Errorf("state %v, %v", state, err)
	}
}

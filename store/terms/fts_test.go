package terms

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// index is a real FTS5 table with the tokenizer of the store, for checking
// that Go and SQLite agree.
type index struct {
	t  testing.TB
	db *sql.DB
}

func newIndex(t testing.TB) *index {
	t.Helper()
	// The one driver that this build links.
	db, err := sql.Open(sql.Drivers()[0], "file:"+filepath.Join(t.TempDir(), "fts.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	x := &index{t, db}
	x.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF`) // nothing here has to survive a crash
	x.exec(`CREATE VIRTUAL TABLE doc USING fts5(text, seg, tokenize='porter unicode61 remove_diacritics 2')`)
	x.exec(`CREATE VIRTUAL TABLE vocab USING fts5vocab(doc, 'row')`)
	x.exec(`CREATE VIRTUAL TABLE place USING fts5vocab(doc, 'instance')`)
	return x
}

func (x *index) exec(query string, args ...any) {
	x.t.Helper()
	if _, err := x.db.Exec(query, args...); err != nil {
		x.t.Fatal(err)
	}
}

// set makes text, with seg, the only row.
func (x *index) set(text, seg string) {
	x.t.Helper()
	x.exec(`DELETE FROM doc`)
	x.exec(`INSERT INTO doc(rowid, text, seg) VALUES (1, ?, ?)`, text, seg)
}

// matches reports whether the row is found by the expression.
func (x *index) matches(expression string) bool {
	x.t.Helper()
	var n int
	if err := x.db.QueryRow(`SELECT count(*) FROM doc WHERE doc MATCH ?`, expression).Scan(&n); err != nil {
		x.t.Fatalf("MATCH %q: %v", expression, err)
	}
	return n > 0
}

// vocab returns how often each term occurs in the row.
func (x *index) vocab() map[string]int {
	x.t.Helper()
	rows, err := x.db.Query(`SELECT term, cnt FROM vocab`)
	if err != nil {
		x.t.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var term string
		var n int
		if err := rows.Scan(&term, &n); err != nil {
			x.t.Fatal(err)
		}
		counts[term] = n
	}
	if err := rows.Err(); err != nil {
		x.t.Fatal(err)
	}
	return counts
}

// tokens returns the tokens FTS5 makes of text, in order.
func (x *index) tokens(text string) []string {
	x.t.Helper()
	x.set(text, "")
	rows, err := x.db.Query(`SELECT term FROM place ORDER BY offset`)
	if err != nil {
		x.t.Fatal(err)
	}
	defer rows.Close()
	var tokens []string
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			x.t.Fatal(err)
		}
		tokens = append(tokens, term)
	}
	if err := rows.Err(); err != nil {
		x.t.Fatal(err)
	}
	return tokens
}

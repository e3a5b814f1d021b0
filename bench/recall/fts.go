package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"unicode"
)

// fts is SQLite's own ranking, bm25() of an FTS5 table, over the same rows.
type fts struct {
	db      *sql.DB
	prepare func(string) string // applied to rows and queries alike
}

// openFTS indexes rows in a new database in dir, on the driver that memd runs on.
func openFTS(ctx context.Context, dir, tokenizer string, prepare func(string) string, rows []row) (*fts, error) {
	db, err := sql.Open(sql.Drivers()[0], filepath.Join(dir, "fts.db"))
	if err != nil {
		return nil, err
	}
	f := &fts{db: db, prepare: prepare}
	if err := f.index(ctx, tokenizer, rows); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *fts) index(ctx context.Context, tokenizer string, rows []row) error {
	// The tokenizer is a constant of this program.
	_, err := f.db.ExecContext(ctx,
		`CREATE VIRTUAL TABLE doc USING fts5(id UNINDEXED, conversation UNINDEXED, body, tokenize = '`+tokenizer+`')`)
	if err != nil {
		return err
	}
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after Commit
	insert, err := tx.PrepareContext(ctx, `INSERT INTO doc (id, conversation, body) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := insert.ExecContext(ctx, r.ID, r.Group, f.prepare(r.Text)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (f *fts) search(ctx context.Context, group, query string, limit int) ([]string, error) {
	match := anyTerm(f.prepare(query))
	if match == "" {
		return nil, nil
	}
	rows, err := f.db.QueryContext(ctx,
		`SELECT id FROM doc WHERE doc MATCH ? AND conversation = ? ORDER BY bm25(doc), rowid LIMIT ?`, match, group, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (f *fts) close() error { return f.db.Close() }

// anyTerm is an FTS5 expression for any of the terms of a text.
func anyTerm(text string) string {
	terms := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Co)
	})
	for i, term := range terms {
		terms[i] = `"` + term + `"`
	}
	return strings.Join(terms, " OR ")
}

// asIs leaves a text as it is.
func asIs(text string) string { return text }

// pairs rewrites each run of Han characters as its overlapping pairs, the
// usual way to make Chinese searchable with a tokenizer that splits at spaces.
func pairs(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); {
		if !unicode.Is(unicode.Han, runes[i]) {
			b.WriteRune(runes[i])
			i++
			continue
		}
		end := i + 1
		for end < len(runes) && unicode.Is(unicode.Han, runes[end]) {
			end++
		}
		b.WriteByte(' ')
		for at := i; at < max(end-1, i+1); at++ {
			b.WriteString(string(runes[at:min(at+2, end)]) + " ")
		}
		i = end
	}
	return b.String()
}

// hasHan reports whether a set is written in Chinese characters, in part at
// least.
func (s *set) hasHan() bool {
	for _, q := range s.questions {
		if strings.ContainsFunc(q.Query, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			return true
		}
	}
	return false
}

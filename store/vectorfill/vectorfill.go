// Package vectorfill writes the vectors of a store's rows at once, for tests and
// measurements that are not about the writing. It is no part of memd.
package vectorfill

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"

	"memd/embedding"
	"memd/store" // registers SQLite with sqlite-vec
)

// batch is how many rows are read and written at a time.
const batch = 1000

// Write gives every row of the indexed tiers in dir that has none a vector of
// its summary, in whichever database it sits.
func Write(ctx context.Context, dir string, e embedding.Embedder) error {
	files, err := filepath.Glob(filepath.Join(dir, store.HistoryDir, "*.db"))
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(dir, store.ActiveName)) {
		if err := write(ctx, file, e); err != nil {
			return err
		}
	}
	return nil
}

func write(ctx context.Context, file string, e embedding.Embedder) (err error) {
	at := url.URL{Path: filepath.ToSlash(file), RawQuery: "_pragma=busy_timeout(5000)"}
	db, err := sql.Open(sql.Drivers()[0], "file:"+at.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for after := ""; ; {
		ids, texts, err := read(ctx, db, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		made, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for i, v := range made {
			if v == nil {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO embedding (memory_id, model, dim, vec, bits) VALUES (?, ?, ?, ?, ?)`,
				ids[i], e.Model(), e.Dim(), embedding.Int8(v), embedding.Bits(v)); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}

// read returns the next rows without a vector, by id.
func read(ctx context.Context, db *sql.DB, after string) (ids, texts []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, summary FROM (
 SELECT id, summary FROM long UNION ALL SELECT id, summary FROM short UNION ALL SELECT id, summary FROM archive)
 WHERE id > ? AND id NOT IN (SELECT memory_id FROM embedding) ORDER BY id LIMIT ?`, after, batch)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, nil, err
		}
		ids, texts = append(ids, id), append(texts, text)
	}
	return ids, texts, rows.Err()
}

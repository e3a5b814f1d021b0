//go:build unix

package bench

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd/store"
)

// Shape of the write benchmark. What clients can have waiting is what the
// writer can commit at once, so groups of as many inserts are the raw
// counterpart of as many clients.
const (
	writeRows  = 2000 // of one round
	clients    = 8
	largeGroup = 256 // the writer's own limit
)

// BenchmarkRememberREST writes rows through POST /v1/remember with eight
// clients at once, each waiting for its answer, and then the very rows that
// arose into an empty database of the same schema by bare inserts: the same
// columns, triggers, indexes, driver and pragmas, in groups of eight. It also
// reports groups of 256, which eight waiting clients cannot fill. The
// processor time, which other programs disturb less than the rate, includes
// that of the clients, see poster.
func BenchmarkRememberREST(b *testing.B) {
	requests := rememberRequests(b, makeRows(writeRows))
	var rest, raw, large cost
	var ratios, ratios256 []float64 // of each round, since the load changes between them
	n := 0
	for b.Loop() {
		n += writeRows
		dir := b.TempDir()
		ours := writeREST(b, dir, requests, clients)
		rows := readTable(b, dir, "short")
		eight, many := insertRaw(b, rows, clients), insertRaw(b, rows, largeGroup)
		ratios = append(ratios, eight.wall.Seconds()/ours.wall.Seconds())
		ratios256 = append(ratios256, many.wall.Seconds()/ours.wall.Seconds())
		rest.add(ours)
		raw.add(eight)
		large.add(many)
	}
	b.ReportMetric(0, "ns/op") // a sum of three different things
	for _, way := range []struct {
		name string
		cost cost
	}{{"rest", rest}, {"raw8", raw}, {"raw256", large}} {
		b.ReportMetric(float64(n)/way.cost.wall.Seconds(), way.name+"-rows/s")
		b.ReportMetric(float64(way.cost.cpu.Microseconds())/float64(n), way.name+"-cpu-µs/row")
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(ratios256), "ratio256")
}

// cost is what a piece of work took.
type cost struct{ wall, cpu time.Duration }

func (c *cost) add(d cost) {
	c.wall += d.wall
	c.cpu += d.cpu
}

// costOf runs work and returns what it took of the clock and, where the
// system tells, of this process's processor time.
func costOf(work func()) cost {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before) // zero at worst
	began := time.Now()
	work()
	wall := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := func(r syscall.Rusage) time.Duration {
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return cost{wall, cpu(after) - cpu(before)}
}

// table is the content of a table, its key left out.
type table struct {
	columns []string
	rows    [][]any
}

// openRaw opens the database in dir past memd, on the same driver and with the
// pragmas of its writer.
func openRaw(tb testing.TB, dir string) *sql.DB {
	tb.Helper()
	file := url.URL{Path: filepath.Join(dir, store.ActiveName)}
	db, err := sql.Open(sql.Drivers()[0], "file:"+file.EscapedPath()+"?_txlock=immediate")
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1) // which keeps its pragmas
	if _, err := db.ExecContext(tb.Context(), `PRAGMA busy_timeout = 5000; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;
PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 4194304; PRAGMA recursive_triggers = ON`); err != nil {
		tb.Fatal(err)
	}
	return db
}

// readTable returns a table of the store in dir whose first column is its
// integer key, in the order of that.
func readTable(tb testing.TB, dir, name string) table {
	tb.Helper()
	db := openRaw(tb, dir)
	defer db.Close()
	found, err := db.QueryContext(tb.Context(), `SELECT * FROM `+name+` ORDER BY 1`)
	if err != nil {
		tb.Fatal(err)
	}
	defer found.Close()
	var t table
	names, err := found.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	t.columns = names[1:]
	for found.Next() {
		cells := make([]any, len(names))
		targets := make([]any, len(names))
		for i := range cells {
			targets[i] = &cells[i]
		}
		if err := found.Scan(targets...); err != nil {
			tb.Fatal(err)
		}
		t.rows = append(t.rows, cells[1:])
	}
	if err := found.Err(); err != nil {
		tb.Fatal(err)
	}
	return t
}

// insertRaw inserts rows into a new database in transactions of group rows and
// returns what that took.
func insertRaw(b *testing.B, t table, group int) cost {
	b.Helper()
	dir := b.TempDir()
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: Room(len(t.rows))}) // makes the schema
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db := openRaw(b, dir)
	defer db.Close()
	insert, err := db.PrepareContext(b.Context(), fmt.Sprintf(`INSERT INTO short (%s) VALUES (?%s)`,
		strings.Join(t.columns, ", "), strings.Repeat(", ?", len(t.columns)-1)))
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	return costOf(func() {
		for rows := range slices.Chunk(t.rows, group) {
			tx, err := db.BeginTx(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			stmt := tx.StmtContext(b.Context(), insert)
			for _, row := range rows {
				if _, err := stmt.ExecContext(b.Context(), row...); err != nil {
					b.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

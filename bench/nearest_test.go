//go:build !memd_cgo

package bench

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"flag"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/static"
	"memd/internal/memtest"
	"memd/store"
	"memd/store/vectorfill"
)

var nearWords = flag.String("near.words", "", "words and their vectors as text, for BenchmarkNearest")

// nearDim is the length of the benchmark's vectors.
const nearDim = 256

// projected makes vectors of nearDim numbers of shorter ones, by a map that is
// the same every time and leaves angles nearly as they are.
type projected struct {
	embedding.Embedder
	rows [][]float32
}

func newProjected(e embedding.Embedder) projected {
	rng := rand.New(rand.NewPCG(2, 5))
	p := projected{e, make([][]float32, nearDim)}
	for i := range p.rows {
		p.rows[i] = make([]float32, e.Dim())
		for j := range p.rows[i] {
			p.rows[i][j] = float32(rng.NormFloat64())
		}
	}
	return p
}

func (p projected) Dim() int { return nearDim }

func (p projected) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	short, err := p.Embedder.Embed(ctx, texts)
	all := make([][]float32, len(short))
	for i, v := range short {
		if v == nil {
			continue
		}
		all[i] = make([]float32, nearDim)
		for n, row := range p.rows {
			for j := range row {
				all[i][n] += row[j] * v[j]
			}
		}
		embedding.Unit(all[i])
	}
	return all, err
}

// topical makes texts of real words. Each is drawn from a topic, which is a
// place in the list of words with what stands around it, and common words.
func topical(words []string, n int, rng *rand.Rand) []string {
	texts := make([]string, n)
	for i := range texts {
		topic := rng.IntN(len(words))
		var text []string
		for range 8 + rng.IntN(12) {
			at := rng.IntN(min(3000, len(words)))
			if rng.IntN(2) == 0 {
				at = (topic + rng.IntN(40)) % len(words)
			}
			text = append(text, words[at])
		}
		texts[i] = strings.Join(text, " ")
	}
	return texts
}

// BenchmarkNearest compares the vector leg over 100,000 rows x 256 with a full
// scan of the same rows by SQLite's vec_distance_cosine over floats, in the same
// run, and reports how many of the scan's ten best the leg finds.
func BenchmarkNearest(b *testing.B) {
	if *nearWords == "" {
		b.Skip("needs -near.words")
	}
	const n = 100000
	words, e := readModel(b, *nearWords)
	rng := rand.New(rand.NewPCG(7, 1))
	texts := topical(words, n+200, rng)
	dir := b.TempDir()
	s := memtest.Store(b, dir, nil, func(c *configs.Budgets) { *c = Room(n) })
	insertShort(b, s, texts[:n])
	if err := vectorfill.Write(b.Context(), dir, e); err != nil {
		b.Fatal(err)
	}
	db := openPlain(b, filepath.Join(dir, store.ActiveName))
	plain := openPlain(b, filepath.Join(b.TempDir(), "plain.db"))
	copyPlain(b, db, plain, e)

	scope := store.Scope{Namespaces: []string{memd.DefaultNamespace}, Now: s.Now()}
	var leg, scan, stream []float64
	var found, streamed, all float64
	i := 0
	for b.Loop() {
		v, err := e.Embed(b.Context(), texts[n+i%200:n+i%200+1])
		if err != nil || v[0] == nil {
			b.Fatal(err)
		}
		i++
		began := time.Now()
		want := exact(b, plain, v[0])
		scan = append(scan, time.Since(began).Seconds())

		began = time.Now()
		var got []string
		err = s.View(b.Context(), func(view *store.View) error {
			rows, err := view.Nearest(memd.Short, store.Vector{Model: e.Model(), Int8: embedding.Int8(v[0])}, scope, store.Filter{}, 100)
			for _, m := range rows[:min(10, len(rows))] {
				got = append(got, m.ID)
			}
			return err
		})
		leg = append(leg, time.Since(began).Seconds())
		if err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		inGo := scanInGo(b, db, v[0])
		stream = append(stream, time.Since(began).Seconds())
		all += float64(len(want))
		for _, id := range want {
			if slices.Contains(got, id) {
				found++
			}
			if slices.Contains(inGo, id) {
				streamed++
			}
		}
	}
	b.ReportMetric(1000*leg[0], "leg-first-ms") // which reads the bits
	b.ReportMetric(1000*middle(leg), "leg-p50-ms")
	b.ReportMetric(1000*middle(scan), "scan-p50-ms")
	b.ReportMetric(1000*middle(stream), "go-scan-p50-ms")
	b.ReportMetric(middle(leg)/middle(scan), "ratio")
	b.ReportMetric(found/all, "recall@10")
	b.ReportMetric(streamed/all, "go-recall@10")
}

func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// readModel converts a file of words and vectors.
func readModel(b *testing.B, path string) ([]string, embedding.Embedder) {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var words []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		word, _, _ := strings.Cut(lines.Text(), " ")
		words = append(words, word)
	}
	table := filepath.Join(b.TempDir(), "table")
	if _, err := static.Convert(b.Context(), path, table, static.Options{}); err != nil {
		b.Fatal(err)
	}
	t, err := static.Open(table)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { t.Close() })
	return words, newProjected(t)
}

func openPlain(b *testing.B, path string) *sql.DB {
	b.Helper()
	file := url.URL{Path: filepath.ToSlash(path)}
	db, err := sql.Open(sql.Drivers()[0], "file:"+file.EscapedPath())
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { db.Close() })
	return db
}

// copyPlain fills a table of ids and vectors as floats.
func copyPlain(b *testing.B, from, to *sql.DB, e embedding.Embedder) {
	b.Helper()
	if _, err := to.Exec(`PRAGMA synchronous = OFF; CREATE TABLE plain (id TEXT PRIMARY KEY, vec BLOB NOT NULL)`); err != nil {
		b.Fatal(err)
	}
	rows, err := from.Query(`SELECT id, summary FROM short`)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	tx, err := to.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		var id, text string
		if err := rows.Scan(&id, &text); err != nil {
			b.Fatal(err)
		}
		v, err := e.Embed(b.Context(), []string{text})
		if err == nil && v[0] != nil {
			_, err = tx.Exec(`INSERT INTO plain VALUES (?, ?)`, id, floats(v[0]))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// exact are the ids of the ten nearest, by SQLite.
func exact(b *testing.B, db *sql.DB, v []float32) []string {
	b.Helper()
	rows, err := db.Query(`SELECT id FROM plain ORDER BY vec_distance_cosine(vec, ?), id LIMIT 10`, floats(v))
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// scanInGo are the ids of the ten nearest, the vectors streamed out of SQLite.
func scanInGo(b *testing.B, db *sql.DB, v []float32) []string {
	b.Helper()
	asked := embedding.Bits(v)
	rows, err := db.Query(`SELECT memory_id, bits, vec FROM embedding`)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	type near struct {
		id     string
		cosine float64
	}
	var best []near
	for rows.Next() {
		var id, bits, vec sql.RawBytes
		if err := rows.Scan(&id, &bits, &vec); err != nil {
			b.Fatal(err)
		}
		if len(bits) != len(asked) || len(vec) != len(v) {
			b.Fatal("another length")
		}
		var dot, length float64
		for i, x := range vec {
			n := float64(int8(x))
			dot += n * float64(v[i])
			length += n * n
		}
		cosine := dot * dot / length
		if dot < 0 {
			cosine = -cosine
		}
		if len(best) == 10 && cosine <= best[9].cosine {
			continue
		}
		best = append(best, near{string(id), cosine})
		slices.SortFunc(best, func(a, b near) int {
			if a.cosine > b.cosine {
				return -1
			}
			return 1
		})
		best = best[:min(10, len(best))]
	}
	ids := make([]string, len(best))
	for i, n := range best {
		ids[i] = n.id
	}
	return ids
}

package static

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memd/embedding"
	"memd/embedding/embeddingtest"
)

var conformance = []string{"the daemon restarts", "a new key for the socket", "重启设备"}

func TestConformance(t *testing.T) {
	words := []string{"the", "a", "for", "daemon", "restarts", "new", "key", "socket", "重启", "设备", "x"}
	pieces := []string{"[PAD]", "[UNK]", "the", "daemon", "restart", "##s", "a", "new", "key", "for", "socket", "重", "启", "设", "备"}
	spaced := []string{"<unk>", "▁the", "▁da", "emon", "▁restarts", "▁a", "▁new", "▁key", "▁for", "▁socket", "▁重启", "设", "备"}
	table, _ := axes(t, words...)
	for name, table := range map[string]*Table{
		"words":     table,
		"WordPiece": converted(t, folder(t, wordPieceJSON(pieces...), tensorsOf(t, map[string][][]float32{"embeddings": identity(len(pieces))}))),
		"Unigram":   converted(t, folder(t, unigramJSON(spaced...), tensorsOf(t, map[string][][]float32{"embeddings": identity(len(spaced))}))),
	} {
		t.Run(name, func(t *testing.T) { embeddingtest.Test(t, table, conformance) })
	}
}

func TestWords(t *testing.T) {
	_, found := axes(t, "make", "test", "all", "test-all", "don't", "won", "user", "name", "get", "http", "server", "u.s.", "café", "résumé", "straße", "2026",
		"🚀", "修", "复", "重启", "误杀", "重", "ひらがな", "api", "GB", "cross-country", "σοφος", "İstanbul", "watch", "\u1e96", "t", "clock")
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"nothing known", ""},
		{"Make TEST", "make test"},
		{"make test-all", "make test-all"},
		{"make-test", "make test"},
		{"make_test.all/api", "make test all api"},
		{"don't", "don't"},
		{"Don’t", "don't"},
		{"user's", "user"},
		{"o'clock", "clock"},
		{"H\u0331", "\u1e96"},
		{"won't", "won"},
		{"getUserName", "user name get"},
		{"HTTPServer", "http server"},
		{"GetHTTPServer2", "get http"},
		{"the U.S. army", "u.s."},
		{"(make)... 'test'", "make test"},
		{"-make- --test", "make test"},
		{"CAFÉ cafe\u0301", "café"},
		{"cafe", ""},
		{"STRASSE straße", "straße"},
		{"ΣΟΦΟΣ", "σοφος"},
		{"İSTANBUL", "İstanbul"},
		{"2026-11-30", "2026"},
		{"launch🚀now", "🚀"},
		{"ｗａｔｃｈ", "watch"},
		{"修复watchdog误杀", "修 复 误杀"},
		{"重启", "重启"},
		{"重新", "重"},
		{"误", ""},
		{"ひらがなと", "ひらがな"},
		{"3 GB/s", "GB"},
		{"cross-country", "cross-country"},
		{"make\x00test\xff", "make test"},
	} {
		if got := found(c.text); got != c.want {
			t.Errorf("%q: found %q, want %q", c.text, got, c.want)
		}
	}
}

// A text's vector is the mean of its words' vectors by the weight a/(a+p).
func TestMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, dim = 200, 24
	lines, vectors := make([]string, n), make([][]float64, n)
	for i := range n {
		vectors[i] = make([]float64, dim)
		lines[i] = fmt.Sprintf("w%d", i)
		for j := range dim {
			vectors[i][j] = rng.NormFloat64()
			lines[i] += fmt.Sprintf(" %.6f", vectors[i][j])
		}
	}
	table := textTable(t, lines...)
	p := zipf(n)
	for range 50 {
		want := make([]float64, dim)
		var text []string
		for range 1 + rng.IntN(20) {
			i := rng.IntN(n)
			text = append(text, fmt.Sprintf("W%d", i))
			for j := range want {
				want[j] += vectors[i][j] * smooth / (smooth + p[i])
			}
		}
		got := embed(t, table, strings.Join(text, " "))
		var cos, length float64
		for j := range want {
			cos += float64(got[j]) * want[j]
			length += want[j] * want[j]
		}
		if cos /= math.Sqrt(length); cos < 0.9998 {
			t.Errorf("cosine with the mean: %v", cos)
		}
	}
}

// Most of a direction that all words share is taken off.
func TestComponent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, dim = 2 * leastWords, 2 * leastDim
	shared := strings.Repeat(" 0.9", dim/2) + strings.Repeat(" 0", dim/2)
	lines := []string{"common" + shared}
	for i := range n {
		line := fmt.Sprintf("w%d", i)
		for j := range dim {
			base := 0.9
			if j >= dim/2 {
				base = 0
			}
			line += fmt.Sprintf(" %.4f", base+0.2*rng.NormFloat64())
		}
		lines = append(lines, line)
	}
	table := textTable(t, lines...)
	c := table.view.component
	if share := dot(c, c); math.Abs(share-removed) > 1e-4 {
		t.Fatalf("the component takes off %v", share)
	}
	for j, x := range c {
		want := math.Sqrt(removed * 2 / dim)
		if j >= dim/2 {
			want = 0
		}
		if math.Abs(float64(x)-want) > 0.02 {
			t.Errorf("number %d of the component is %v, want %v", j, x, want)
		}
	}
	bare := *table.view
	bare.component = make([]float32, dim)
	for i := range 100 {
		text := fmt.Sprintf("w%d w%d", i, i+100)
		whole, less := newCutter(&bare).vector(text), newCutter(table.view).vector(text)
		before, after := dot(whole, c)/length(c), dot(less, c)/length(c)
		left := (1 - removed) * before
		if want := left / math.Sqrt(1-before*before+left*left); before < 0.9 || math.Abs(after-want) > 1e-4 {
			t.Errorf("%q has %v along the component, %v before, want %v", text, after, before, want)
		}
	}
}

func TestNameFollowsContent(t *testing.T) {
	a, b := textTable(t, "one 1 0", "two 0 1"), textTable(t, "one 1 0", "two 0 2")
	c := textTable(t, "one 1 0", "two 0 1")
	if a.Model() == b.Model() || a.Model() != c.Model() || !strings.HasPrefix(a.Model(), "static/model@") {
		t.Errorf("models %s, %s, %s", a.Model(), b.Model(), c.Model())
	}
	if a.Dim() != 2 || a.Words() != 2 || a.Size() != headerBytes+2*2+2*4+2*4+2*(scoreAt+3)+5 {
		t.Errorf("dim %d, words %d, size %d", a.Dim(), a.Words(), a.Size())
	}
}

// Every changed byte, and every cut, is noticed.
func TestDamage(t *testing.T) {
	table, _ := axes(t, "one", "two", "重启")
	path := filepath.Join(t.TempDir(), "table")
	whole := fileOf(t, table)
	for i := range whole {
		b := append([]byte{}, whole...)
		b[i] ^= 0x10
		if _, err := parse(b); err == nil {
			t.Errorf("a change of byte %d goes unnoticed", i)
		}
		if _, err := parse(whole[:i]); err == nil {
			t.Errorf("a cut to %d bytes goes unnoticed", i)
		}
	}
	writeFile(t, path, string(whole[:len(whole)-1]))
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("Open: %v", err)
	}
	writeFile(t, path, "")
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), errNoTable.Error()) {
		t.Errorf("Open of an empty file: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder opens")
	}
	if _, err := Open(path + "-"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
	newer := append([]byte{}, whole...)
	newer[8] = 2
	if _, err := parse(newer); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer version: %v", err)
	}
}

// fileOf is the table as it is on disk.
func fileOf(t testing.TB, table *Table) []byte {
	t.Helper()
	v := table.view
	b := v.header.bytes()
	b = append(b, v.vectors...)
	for _, x := range v.component {
		u := math.Float32bits(x)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	b = append(append(b, v.directory...), v.list...)
	name, _, _ := strings.Cut(strings.TrimPrefix(table.model, "static/"), "@")
	return append(b, name...)
}

// A table may be closed while others embed: they get their vectors or a fault.
func TestClose(t *testing.T) {
	from := filepath.Join(t.TempDir(), "m.txt")
	writeFile(t, from, "one 1 0\ntwo 0 1\n")
	to := filepath.Join(t.TempDir(), "table")
	if _, err := Convert(t.Context(), from, to, Options{}); err != nil {
		t.Fatal(err)
	}
	table, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for {
				vectors, err := table.Embed(context.Background(), []string{"one two"})
				if fault, ok := errors.AsType[*embedding.Fault](err); ok && !fault.Passing {
					return
				}
				if err != nil || vectors[0] == nil {
					t.Errorf("%v, %v", vectors, err)
					return
				}
			}
		})
	}
	for range 2 {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
	running.Wait()
	if table.Model() == "" || table.Dim() != 2 {
		t.Error("a closed table does not know its model")
	}
}

// A table whose checksum is right may still hold nonsense.
func TestCrafted(t *testing.T) {
	table, _ := axes(t, "one", "two", "three", "four")
	v := table.view
	s := v.sections()
	nan := []byte{0, 0, 0xc0, 0x7f}
	for name, c := range map[string]struct {
		at   int64
		with []byte
	}{
		"no dimension":           {12, []byte{0, 0, 0, 0}},
		"a vast dimension":       {12, []byte{0xff, 0xff, 0xff, 0xff}},
		"more rows":              {16, []byte{5, 0, 0, 0}},
		"vast rows":              {16, []byte{0xff, 0xff, 0x7f, 0}},
		"fewer words":            {20, []byte{3, 0, 0, 0}},
		"no buckets":             {24, []byte{0, 0, 0, 0}},
		"another size of words":  {28, []byte{1, 0, 0, 0}},
		"an unknown cut":         {32, []byte{byte(cuts)}},
		"pieces of no length":    {32, []byte{byte(cutWordPiece), 0, 0}},
		"unknown flags":          {33, []byte{0x80}},
		"a long run":             {34, []byte{maxRun + 1}},
		"no name":                {35, []byte{0}},
		"something reserved":     {40, []byte{1}},
		"component not finite":   {s.component, nan},
		"directory not at 0":     {s.directory, []byte{1}},
		"directory beyond":       {s.directory + 4, []byte{0xff, 0xff, 0xff, 0x7f}},
		"directory back":         {s.directory + 4, []byte{0xff, 0xff, 0xff, 0xff}},
		"directory ends early":   {s.directory + 4*int64(v.buckets), []byte{0}},
		"an empty word":          {s.entries, []byte{0}},
		"a word beyond":          {s.entries, []byte{0xff}},
		"a row beyond":           {s.entries + 1, []byte{4}},
		"a vast row":             {s.entries + 1, []byte{0xff, 0xff, 0xff, 0xff}},
		"factor not finite":      {s.entries + 5, nan},
		"a name that is no text": {s.name, []byte{0xff}},
	} {
		b := fileOf(t, table)
		copy(b[c.at:], c.with)
		sum := sumOf(b)
		copy(b[sumAt:], sum[:])
		if _, err := parse(b); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd/embedding/embeddingtest"
	"memd/store"
)

const words = "build 1 0 0\ndeploy 0 1 0\nlunch 0 0 1\n"

// words writes a file of word vectors.
func (b *box) words(text string) string {
	b.t.Helper()
	path := filepath.Join(filepath.Dir(b.dir), "words.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// embedder is the state of the vectors.
func (b *box) embedder() store.EmbedderStats {
	b.t.Helper()
	var s store.Stats
	if err := json.Unmarshal([]byte(b.must("stats", "--json")), &s); err != nil {
		b.t.Fatal(err)
	}
	return s.Embedder
}

// Tables are made, listed and removed without a daemon and beside one, in
// files that are their owner's alone.
func TestModels(t *testing.T) {
	b := newBox(t)
	if out := b.must("model", "list", "--json"); out != `{"models":[]}`+"\n" {
		t.Errorf("no tables: %s", out)
	}
	file := b.words(words)
	if out := b.must("model", "add", file, "--name", "tiny"); !strings.HasPrefix(out, "made tiny: 3 words, 3 numbers each, ") {
		t.Errorf("add: %s", out)
	}
	for _, name := range []string{"CON", "nul.v1", "com1"} { // devices on some systems
		if r := b.run("model", "add", file, "--name", name); r.code != 2 || !strings.Contains(r.err, "is no name for a table") {
			t.Errorf("%s: exits %d: %s", name, r.code, r.err)
		}
	}
	r := b.run("model", "add", file, "--json")
	if r.code != 0 || !strings.Contains(r.out, `"name":"words","model":"static/words@`) || r.err != "" {
		t.Errorf("add: %+v", r)
	}
	for name, want := range map[string]os.FileMode{"models": 0o700, "models/tiny.table": 0o600} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.dir, "models", "bad.table"), []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.serve()
	out := b.must("model", "list")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 4 || !strings.HasPrefix(lines[1], "bad ") || !strings.HasPrefix(lines[2], "tiny   3 ") {
		t.Errorf("list: %s", out)
	}
	b.must("model", "remove", "bad")
	for _, c := range []struct {
		code int
		args []string
	}{
		{3, []string{"model", "remove", "bad"}},
		{3, []string{"model", "remove", "../token"}},
		{2, []string{"model", "add", file, "--name", "../x"}},
		{2, []string{"model", "add", b.words("one 1 2\ntwo 1\n"), "--name", "uneven"}},
		{2, []string{"model", "add"}},
	} {
		if r := b.run(c.args...); r.code != c.code {
			t.Errorf("%q exits %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
	}
	if out := b.must("model", "list", "--json"); strings.Contains(out, "uneven") {
		t.Errorf("a table that failed is listed: %s", out)
	}
	if r := b.run("model", "add", filepath.Join(b.dir, "nowhere"), "--name", "x"); r.code == 0 || !strings.Contains(r.err, "nowhere") {
		t.Errorf("no file: %+v", r)
	}
}

// A table gives rows their vectors; one that is not there is an error at the
// start that names it.
func TestServeStatic(t *testing.T) {
	b := newBox(t)
	b.must("model", "add", b.words(words), "--name", "tiny")
	b.env = append(b.env, "MEMD_EMBEDDING_PROVIDER=static", "MEMD_EMBEDDING_MODEL=none-such")
	if r := b.run("serve"); r.code != 2 || !strings.Contains(r.err, "embedding.model: there is no table") {
		t.Errorf("without the table: %+v", r)
	}
	b.env[len(b.env)-1] = "MEMD_EMBEDDING_MODEL=tiny"
	b.must("remember", "the build is red") // before any daemon
	b.serve()
	b.must("remember", "a deploy at noon")
	b.must("note", "lunch", "--session", "s")
	eventually(t, "two vectors", func() bool { return b.embedder().Vectors == 2 })
	if e := b.embedder(); !strings.HasPrefix(e.Name, "static/tiny@") || e.Dim != 3 || e.Pending != 0 {
		t.Errorf("stats: %+v", e)
	}
	if r := b.run("model", "remove", "tiny"); r.code != 2 {
		t.Errorf("the table in use was removed: %+v", r)
	}
}

// A server gives rows their vectors, with the key of the environment; a daemon
// whose server is down starts, takes writes, is ready and ends.
func TestServeOpenAI(t *testing.T) {
	stub := embeddingtest.Handler(embeddingtest.Hashed{Name: "hashed", Size: 16})
	var unkeyed, asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.URL.Path; r.Header.Get("Authorization") != "Bearer sk-test" {
			unkeyed = r.Header.Get("Authorization")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		stub.ServeHTTP(w, r)
	}))
	address := server.URL
	b := newBox(t)
	b.env = append(b.env, "MEMD_EMBEDDING_PROVIDER=openai", "MEMD_EMBEDDING_MODEL=hashed", "MEMD_EMBEDDING_DIM=16",
		"MEMD_EMBEDDING_URL="+address, "MEMD_EMBEDDING_KEY_ENV=STUB_KEY", "STUB_KEY=sk-test")
	d := b.serve()
	for n := range 5 {
		b.must("remember", fmt.Sprint("memory number ", n))
	}
	eventually(t, "five vectors", func() bool { return b.embedder().Vectors == 5 })
	d.stop()
	server.Close()
	if unkeyed != "" || asked != "/v1/embeddings" {
		t.Errorf("asked was %s; without the key: %q", asked, unkeyed)
	}
	if strings.Contains(d.log.String(), "sk-test") || strings.Contains(b.must("config"), "sk-test") {
		t.Error("the key is shown")
	}

	d = b.serve()
	b.must("remember", "while the server is down")
	eventually(t, "a row that waits", func() bool { return b.embedder().Pending == 1 })
	if code := d.overTCP("GET", "/readyz", "", ""); code != http.StatusOK {
		t.Errorf("not ready without the server of vectors: %d", code)
	}
	d.stop() // in good time, or it fails
}

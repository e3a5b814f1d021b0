package main

import (
	"os"
	"strings"
	"testing"

	"memd/configs"
	"memd/embedding/static"
)

// The embedder of before is opened by the name that its vectors have: a table
// that still lies there, or the server in use under the old model's name. What
// cannot be opened is none, whatever the name holds.
func TestOpenPrevious(t *testing.T) {
	b := newBox(t)
	b.must("model", "add", b.words(words), "--name", "tiny")
	table, err := static.Open(modelPath(b.dir, "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	model := table.Model()
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := &configs.Loaded{}
	cfg.Dir = b.dir
	open := func(provider, url, model string, dim int) (string, float64) {
		t.Helper()
		cfg.Embedding.Provider, cfg.Embedding.URL = provider, url
		p := openPrevious(cfg, model, dim)
		defer func() {
			if err := p.close(); err != nil {
				t.Error(err)
			}
		}()
		if p.Embedder == nil {
			return "", 0
		}
		return p.Model(), p.floor
	}
	const server = "http://127.0.0.1:1/v1"
	for _, c := range []struct {
		provider, url, model, want string
		floor                      float64
	}{
		{"static", "", model, model, 0.7},
		{"openai", server, model, model, 0.7},
		{"openai", server, "nomic-embed-text", "nomic-embed-text", 0.8},
		{"static", "", "nomic-embed-text", "", 0},
		{"none", "", model, "", 0},
		{"static", "", "", "", 0},
		{"static", "", "static/tiny@0", "", 0},
		{"static", "", "static/none@0", "", 0},
		{"static", "", "static/../models/tiny@0", "", 0},
		{"static", "", "static/", "", 0},
	} {
		if got, floor := open(c.provider, c.url, c.model, 3); got != c.want || floor != c.floor {
			t.Errorf("%s, %q: opened %q with floor %v, want %q and %v", c.provider, c.model, got, floor, c.want, c.floor)
		}
	}
	if err := os.Remove(modelPath(b.dir, "tiny")); err != nil {
		t.Fatal(err)
	}
	if got, _ := open("static", "", model, 3); got != "" {
		t.Errorf("opened %q, which is gone", got)
	}
}

// A daemon that is given another table says that the one of before serves
// meanwhile, and does no more once the vectors are the new one's.
func TestServeAnotherTable(t *testing.T) {
	b := newBox(t)
	b.must("model", "add", b.words(words), "--name", "tiny")
	b.must("model", "add", b.words("build 1 0\ndeploy 0 1\n"), "--name", "other")
	b.env = append(b.env, "MEMD_EMBEDDING_PROVIDER=static", "MEMD_EMBEDDING_MODEL=tiny")
	d := b.serve()
	b.must("remember", "the build is red")
	b.must("remember", "a deploy at noon")
	eventually(t, "two vectors", func() bool { return b.embedder().Vectors == 2 })
	d.stop()
	b.env[len(b.env)-1] = "MEMD_EMBEDDING_MODEL=other"
	told := func() bool {
		d := b.serve()
		d.stop()
		return strings.Contains(d.log.String(), "the previous embedder serves")
	}
	if !told() {
		t.Error("the log does not tell that the previous embedder serves")
	}
	eventually(t, "a start without the previous embedder", func() bool { return !told() })
	if e := b.embedder(); !strings.HasPrefix(e.Name, "static/other@") || e.Vectors != 2 {
		t.Errorf("stats: %+v", e)
	}
}

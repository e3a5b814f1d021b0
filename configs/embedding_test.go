package configs

import (
	"fmt"
	"strings"
	"testing"
)

// What cannot stand is refused by its key, and by the line that says it or asks
// for it.
func TestEmbeddingRules(t *testing.T) {
	const server = "embedding:\n  provider: openai\n  model: m\n  url: http://127.0.0.1:11434/v1\n  dim: 768\n"
	for _, c := range []struct {
		text, bad string
		line      int
	}{
		{server, "", 0},
		{server + "  key_env: SOME_KEY\n  send_dim: true\n  timeout: 5s\n  batch: 1\n", "", 0},
		{"embedding:\n  provider: static\n  model: glove.6B-100d\n", "", 0},
		{"embedding:\n  model: m\n", "", 0}, // of no provider
		{"embedding:\n  provider: ollama\n", "embedding.provider", 2},
		{"embedding:\n  provider: static\n", "embedding.model", 2},
		{"embedding:\n  provider: static\n  model: ../m\n", "embedding.model", 3},
		{"embedding:\n  provider: static\n  model: .hidden\n", "embedding.model", 3},
		{strings.Replace(server, "  dim: 768\n", "", 1), "embedding.dim", 2},
		{strings.Replace(server, "768", "8193", 1), "embedding.dim", 5},
		{strings.Replace(server, "model: m", "model: none", 1), "embedding.model", 3},
		{strings.Replace(server, "  model: m\n", "", 1), "embedding.model", 2},
		{strings.Replace(server, "http:", "ftp:", 1), "embedding.url", 4},
		{strings.Replace(server, "//", "//sk-secret@", 1), "embedding.url", 4},
		{server + "  key_env: sk-secret\n", "embedding.key_env", 6},
		{server + "  timeout: 0s\n", "embedding.timeout", 6},
		{server + "  floor: 0.45\n", "", 0},
		{server + "  floor: 1.1\n", "embedding.floor", 6},
		{server + "  floor: -0.1\n", "embedding.floor", 6},
		{server + "  floor: .nan\n", "embedding.floor", 6},
		{server + "  batch: 0\n", "embedding.batch", 6},
		{server + "  key: sk-secret\n", "embedding.key", 6},
	} {
		path := write(t, c.text)
		o := Options{File: path, Env: home(t, "SOME_KEY=x")}
		if c.bad == "" {
			load(t, o)
			continue
		}
		e := refused(t, o)
		if place := fmt.Sprintf("%s:%d: %s: ", path, c.line, c.bad); e.Field != c.bad || !strings.HasPrefix(e.Message, place) {
			t.Errorf("%q: %v, want %s", c.text, e, place)
		}
		if strings.Contains(e.Error(), "secret") {
			t.Errorf("%q: the refusal shows a key: %v", c.text, e)
		}
	}
}

// The key comes from the variable that is named, and is listed nowhere.
func TestEmbeddingKey(t *testing.T) {
	file := write(t, "embedding: {provider: openai, model: m, url: 'http://localhost/v1', dim: 3, key_env: MEMD_MY_KEY}")
	l := load(t, Options{File: file, Env: home(t, "MEMD_MY_KEY=sk-secret")})
	if l.EmbeddingKey() != "sk-secret" || len(l.Warnings) != 0 {
		t.Errorf("the key is %d characters long; warnings: %q", len(l.EmbeddingKey()), l.Warnings)
	}
	for _, e := range l.Entries() {
		if strings.Contains(e.Value, "secret") {
			t.Errorf("%s shows the key", e.Key)
		}
	}
	l = load(t, Options{File: file, Env: home(t)})
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "MEMD_MY_KEY is not set") {
		t.Errorf("without the variable: %q", l.Warnings)
	}
}

// Each provider has a floor of its own, unless one is set for the one in use.
func TestFloorOf(t *testing.T) {
	e := Embedding{Provider: ProviderStatic}
	if a, b := e.FloorOf(ProviderStatic), e.FloorOf(ProviderOpenAI); a != 0.7 || b != 0.8 {
		t.Errorf("floors are %v and %v", a, b)
	}
	e = Embedding{Provider: ProviderOpenAI, Floor: 0.4}
	if a, b := e.FloorOf(ProviderStatic), e.FloorOf(ProviderOpenAI); a != 0.7 || b != 0.4 {
		t.Errorf("with one set, floors are %v and %v", a, b)
	}
}

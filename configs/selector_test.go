package configs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What cannot stand is refused by its key, and by the line that says it or asks
// for it.
func TestSelectorRules(t *testing.T) {
	const server = "selector:\n  provider: openai\n  model: m\n  url: http://127.0.0.1:11434/v1\n"
	for _, c := range []struct {
		text, bad string
		line      int
	}{
		{server, "", 0},
		{server + "  key_env: SOME_KEY\n  timeout: 1m\n", "", 0},
		{"selector:\n  model: m\n", "", 0}, // of no provider
		{"selector:\n  provider: static\n", "selector.provider", 2},
		{"selector:\n  provider: openai\n", "selector.url", 2},
		{strings.Replace(server, "  model: m\n", "", 1), "selector.model", 2},
		{strings.Replace(server, "model: m", "model: ''", 1), "selector.model", 3},
		{strings.Replace(server, "http:", "ftp:", 1), "selector.url", 4},
		{strings.Replace(server, "//", "//sk-secret@", 1), "selector.url", 4},
		{strings.Replace(server, "/v1", "/v1?key=sk-secret", 1), "selector.url", 4},
		{server + "  key_env: sk-secret\n", "selector.key_env", 5},
		{server + "  timeout: 0s\n", "selector.timeout", 5},
		{server + "  timeout: 61s\n", "selector.timeout", 5},
		{server + "  key: sk-secret\n", "selector.key", 5},
		{server + "  dim: 3\n", "selector.dim", 5},
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
	if d := Defaults().Selector; d.Provider != ProviderNone || d.Timeout != 3*time.Second {
		t.Errorf("defaults: %+v", d)
	}
}

// The key comes from the variable that is named, and is listed nowhere; it is
// another than that of the embedder.
func TestSelectorKey(t *testing.T) {
	file := write(t, "embedding: {provider: openai, model: m, url: 'http://localhost/v1', dim: 3, key_env: MEMD_ONE_KEY}\n"+
		"selector: {provider: openai, model: m, url: 'http://localhost/v1', key_env: MEMD_MY_KEY}")
	l := load(t, Options{File: file, Env: home(t, "MEMD_MY_KEY=sk-secret", "MEMD_ONE_KEY=sk-one")})
	if l.SelectorKey() != "sk-secret" || l.EmbeddingKey() != "sk-one" || len(l.Warnings) != 0 {
		t.Errorf("the keys are %d and %d characters long; warnings: %q", len(l.SelectorKey()), len(l.EmbeddingKey()), l.Warnings)
	}
	for _, e := range l.Entries() {
		if strings.Contains(e.Value, "sk-") {
			t.Errorf("%s shows the key", e.Key)
		}
	}
	l = load(t, Options{File: file, Env: home(t, "MEMD_ONE_KEY=sk-one")})
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "selector.key_env: MEMD_MY_KEY is not set") {
		t.Errorf("without the variable: %q", l.Warnings)
	}
}

package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"memd"
	"memd/embedding/embeddingtest"
)

func TestConformance(t *testing.T) {
	h := embeddingtest.Hashed{Name: "hashed", Size: 24}
	server := httptest.NewServer(embeddingtest.Handler(h))
	t.Cleanup(server.Close)
	c, err := New(Config{URL: server.URL, Model: h.Name, Dim: h.Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	embeddingtest.Test(t, c, []string{"the daemon restarts", "a new key", "重启 设备"})
}

func TestRequest(t *testing.T) {
	s := newStub(t, good)
	c := s.client()
	if _, err := c.Embed(t.Context(), []string{"one", "caf\xff"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", s.asked); got != `[{Model:m Input:[one caf�] Dim:0}]` {
		t.Errorf("asked %s", got)
	}
	if s.keys[0] != "Bearer "+secret {
		t.Error("the key was not sent")
	}
	c = s.client(func(c *Config) { c.Key, c.SendDim = "", true })
	if _, err := c.Embed(t.Context(), []string{"one"}); err != nil {
		t.Fatal(err)
	}
	if s.keys[1] != "" || s.asked[1].Dim != 2 {
		t.Errorf("header %q, dimensions %d", s.keys[1], s.asked[1].Dim)
	}
}

// Requests are bounded in texts and characters, and a long text in itself.
func TestBatches(t *testing.T) {
	s := newStub(t, good)
	c := s.client()
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	texts[5] = "\n"
	vectors, err := c.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors {
		if i == 5 {
			if v != nil {
				t.Error("a blank text has a vector")
			}
			continue
		}
		is(t, v, texts[i])
	}
	var sizes []int
	for _, a := range s.asked {
		sizes = append(sizes, len(a.Input))
	}
	if fmt.Sprint(sizes) != "[64 64 21]" {
		t.Errorf("requests of %v texts", sizes)
	}

	s.asked = nil
	long := strings.Repeat("重", 20000)
	if _, err := c.Embed(t.Context(), []string{long, long, long, long, long, long, long, long, long, long, long, "x"}); err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 2 || len(s.asked[0].Input) != 10 || s.asked[0].Input[0] != long[:3*textChars] {
		t.Errorf("%d requests, the first of %d texts of %d bytes", len(s.asked), len(s.asked[0].Input), len(s.asked[0].Input[0]))
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/embeddings"},
		{"http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/embeddings"},
		{"https://x.test/v1", "https://x.test/v1/embeddings"},
		{"https://x.test/openai/v3/", "https://x.test/openai/v3/embeddings"},
		{"https://x.test/v1/embeddings", "https://x.test/v1/embeddings"},
		{"", ""}, {"x.test/v1", ""}, {"ftp://x.test", ""}, {"http://", ""}, {"http://user:" + secret + "@x.test", ""},
		{"http://x.test/?key=" + secret, ""}, {"http://x.test/#" + secret, ""}, {"http://x\x00" + secret, ""},
	} {
		got, err := endpoint(c.url, "/embeddings")
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v", c.url, got, err)
		}
		silent(t, err)
	}
	fine := Config{URL: "http://x.test", Model: "m", Dim: 2}
	for field, change := range map[string]func(*Config){
		"url":   func(c *Config) { c.URL = "x" },
		"model": func(c *Config) { c.Model = "" },
		"dim":   func(c *Config) { c.Dim = maxDim + 1 },
		"key":   func(c *Config) { c.Key = secret + "\r\nX: y" },
	} {
		config := fine
		change(&config)
		_, err := New(config)
		if e, ok := err.(*memd.Error); !ok || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
		silent(t, err)
	}
	fine.Key = secret + "\n" // as a file ends
	c, err := New(fine)
	if err != nil || c.key != secret {
		t.Errorf("a key with a line's end: %v", err)
	}
}

// A Config may be printed and logged.
func TestKeyIsHidden(t *testing.T) {
	config := Config{Key: secret}
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "config", config, "key", config.Key)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "config", config, "key", config.Key)
	fmt.Fprintf(&out, "%v %+v %#v %s %q %v", config, config, config, config.Key, config.Key, &config)
	encoded, err := json.Marshal(struct{ Key Key }{secret})
	if err != nil {
		t.Fatal(err)
	}
	if text := out.String() + string(encoded); strings.Contains(text, secret) || !strings.Contains(text, "[key]") {
		t.Errorf("printed: %s", text)
	}
}

func TestProbe(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ int, asked request) {
		dim := 768
		if asked.Dim > 0 {
			dim = asked.Dim
		}
		write(w, `{"index":0,"embedding":[1`+strings.Repeat(",0", dim-1)+`]}`)
	})
	for _, c := range []struct {
		config Config
		want   int
	}{
		{Config{URL: s.URL, Model: "m"}, 768},
		{Config{URL: s.URL, Model: "m", Dim: 12}, 768},
		{Config{URL: s.URL, Model: "m", Dim: 12, SendDim: true}, 12},
	} {
		c.config.Transport = s.Client().Transport
		if dim, err := Probe(t.Context(), c.config); dim != c.want || err != nil {
			t.Errorf("Probe = %d, %v; want %d", dim, err, c.want)
		}
	}
}

package sources

import (
	"fmt"
	"strings"
	"testing"
)

// cite returns what a source cites of a text.
func cite(t *testing.T, source, text string) string {
	t.Helper()
	section, gone := SplitPath(source).cited(plain([]byte(text)))
	if gone != "" {
		return "missing: " + gone
	}
	return section
}

func TestLines(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for source, want := range map[string]string{
		"x.txt":       text,
		"x.txt:1":     "one\n",
		"x.txt:3":     "three\n",
		"x.txt:4":     "missing: no such line",
		"x.txt:2-3":   "two\nthree\n",
		"x.txt:2-4":   "missing: no such line",
		"x.txt#L2":    "two\n",
		"x.txt#L1-L2": "one\ntwo\n",
		"x.txt#two:1": text, // the section is the anchor's, if the line is there
		"x.txt#two:9": "missing: no such line",
		"x.txt#ten:1": "missing: no such section",
	} {
		if got := cite(t, source, text); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	for text, lines := range map[string]int{"": 0, "a": 1, "a\n": 1, "\n": 1, "a\r\nb": 2, "a\rb\r": 2, "a\n\n": 2} {
		if got := cite(t, fmt.Sprintf("x.txt:%d", lines+1), text); got != "missing: no such line" {
			t.Errorf("%q has a line %d: %q", text, lines+1, got)
		}
		if lines > 0 && strings.HasPrefix(cite(t, fmt.Sprintf("x.txt:%d", lines), text), "missing") {
			t.Errorf("%q has no line %d", text, lines)
		}
	}
}

func TestHash(t *testing.T) {
	same := []string{"a\n\nb\n", "a\r\n\r\nb\r\n", "a\r\rb", "a  \n\t\nb \t\n\n\n", "\n\na\n\nb", "\xef\xbb\xbfa\n\nb"}
	for _, text := range same {
		if hash(plain([]byte(text))) != hash(plain([]byte(same[0]))) {
			t.Errorf("%q has another hash than %q", text, same[0])
		}
	}
	seen := map[string]string{}
	for _, text := range []string{"a\n\nb", "a\nb", "a\n\n b", "A\n\nb", "a\n\n\nb", ""} {
		h := hash(text)
		if !strings.HasPrefix(h, "sha256:") || len(h) != 71 || seen[h] != "" {
			t.Errorf("%q: %s, which is that of %q", text, h, seen[h])
		}
		seen[h] = text
	}
}

func TestGoDeclarations(t *testing.T) {
	const text = `// Package x is an example.
package x

import "fmt"

// Top is a function.
func Top() { fmt.Println(inner) }

// Server serves.
type Server struct {
	// Addr is where.
	Addr string
}

// Run runs.
func (s *Server) Run() { var local int; _ = local }

type Of[T any] struct{}

func (o Of[T]) Run2() {}

type (
	// A is the first.
	A int
	B interface {
		Read() // reads
	}
)

const (
	one = 1
	two = 2
)

var inner = 3
`
	for anchor, want := range map[string]string{
		"Top":               "// Top is a function.\nfunc Top() { fmt.Println(inner) }",
		"x.Top":             "// Top is a function.\nfunc Top() { fmt.Println(inner) }",
		"Top()":             "// Top is a function.\nfunc Top() { fmt.Println(inner) }",
		"Server":            "// Server serves.\ntype Server struct {\n\t// Addr is where.\n\tAddr string\n}",
		"Server.Addr":       "// Addr is where.\n\tAddr string",
		"Server.Run":        "// Run runs.\nfunc (s *Server) Run() { var local int; _ = local }",
		"(*Server).Run":     "// Run runs.\nfunc (s *Server) Run() { var local int; _ = local }",
		"Run":               "// Run runs.\nfunc (s *Server) Run() { var local int; _ = local }",
		"Of.Run2":           "func (o Of[T]) Run2() {}",
		"A":                 "// A is the first.\n\tA int",
		"B.Read":            "Read()",
		"two":               "two = 2",
		"inner":             "var inner = 3",
		"local":             "missing: no such section",
		"Println":           "missing: no such section",
		"Server.Stop":       "missing: no such section",
		"Of.Run":            "missing: no such section",
		"top":               "missing: no such section",
		"is-an-example":     "missing: no such section",
		"is%20an%20examp":   "missing: no such section",
		"is%20an%20example": "// Package x is an example.\npackage x\n", // no name of Go's
	} {
		if got := cite(t, "x.go#"+anchor, text); got != want {
			t.Errorf("%s: %q, want %q", anchor, got, want)
		}
	}
	// What does not parse is looked through as far as it does, then as any text.
	const broken = "package x\n\nfunc Top() {}\n\nfunc Half( {\n"
	for anchor, want := range map[string]string{"Top": "func Top() {}", "Half": "func Half( {\n", "Gone": "missing: no such section"} {
		if got := cite(t, "x.go#"+anchor, broken); got != want {
			t.Errorf("in a broken file %s: %q, want %q", anchor, got, want)
		}
	}
	if got := cite(t, "x.go#Top", "no Go at all: Top\n"); got != "no Go at all: Top\n" {
		t.Errorf("in what is no Go: %q", got)
	}
}

func TestWords(t *testing.T) {
	const text = `name: memd
scripts:
  build: go build
  test: go test

servers:
  port: 6363
  portable: no

Getting Started
===============

部署说明。先测试。
`
	for anchor, want := range map[string]string{
		"scripts":          "name: memd\nscripts:\n  build: go build\n  test: go test\n",
		"scripts.test":     "name: memd\nscripts:\n  build: go build\n  test: go test\n",
		"/servers/port":    "servers:\n  port: 6363\n  portable: no\n",
		"port":             "servers:\n  port: 6363\n  portable: no\n",
		"getting-started":  "Getting Started\n===============\n",
		"_Getting-Started": "Getting Started\n===============\n",
		"说明":               "部署说明。先测试。\n",
		"script":           "missing: no such section",
		"servers.test":     "missing: no such section",
		"test.servers":     "name: memd\nscripts:\n  build: go build\n  test: go test\n", // overwritten below
		"Port":             "missing: no such section",
		"...":              "missing: no such section",
		"-":                "missing: no such section",
	} {
		if anchor == "test.servers" {
			want = "servers:\n  port: 6363\n  portable: no\n"
		}
		if got := cite(t, "x.yaml#"+anchor, text); got != want {
			t.Errorf("%s: %q, want %q", anchor, got, want)
		}
	}
}

func TestElements(t *testing.T) {
	const text = `<html><head><meta name="viewport"></head><body>
<h1 id="top">Top</h1>
<p>first</p>
<section id="part"><h2><a name="inner"></a>Inner</h2><p>text</p><section>in</section></section>
<a id="before"></a>
<h2>Second</h2>
<p id="para">para <b>bold</b></p>
<!-- <p id="comment"> -->
<script>var x = '<p id="script">'</script>
<h2 id=user-content-third>Third</h2>
<p>end</p>
`
	for anchor, want := range map[string]string{
		"top":                text[strings.Index(text, "<h1"):],
		"part":               `<section id="part"><h2><a name="inner"></a>Inner</h2><p>text</p><section>in</section></section>`,
		"inner":              "<h2><a name=\"inner\"></a>Inner</h2><p>text</p><section>in</section></section>\n<a id=\"before\"></a>\n",
		"before":             text[strings.Index(text, `<a id="before"`):strings.Index(text, "<h2 id=")],
		"para":               `<p id="para">para <b>bold</b></p>`,
		"third":              text[strings.Index(text, "<h2 id="):],
		"user-content-third": text[strings.Index(text, "<h2 id="):],
		"viewport":           "missing: no such section",
		"comment":            "missing: no such section",
		"script":             "missing: no such section",
		"Top":                "missing: no such section",
	} {
		if got := cite(t, "x.html#"+anchor, text); got != want && !(anchor == "inner" && strings.HasSuffix(got, want)) {
			t.Errorf("%s: %q, want %q", anchor, got, want)
		}
	}
}

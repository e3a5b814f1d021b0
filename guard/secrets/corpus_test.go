package secrets

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var (
	write    = flag.Bool("secrets.write", false, "write testdata anew from the generator")
	showHeld = flag.Bool("secrets.held", false, "name the misses of the held-out shapes too; who tunes by them spoils them")
)

// Marks of the corpus files. No line of them holds a secret as it is written:
// joint stands within each, so that scanners of other people do not ring.
const (
	opening = "⟦" // the secret begins
	closing = "⟧" // the secret ends
	joint   = "¦" // to be taken out
)

// sample is one line of the corpus: a text as a memory may hold it.
type sample struct {
	shape   string
	text    string
	secrets [][2]int // where they start and end; none in a harmless one
}

// later begins the name of a shape that came after the rules.
const later = "later: "

// held reports whether a shape is kept from those that rules are tuned by: a
// third of them, by the hash of the name. One that came after the rules tells
// nothing of how they do on what nobody thought of.
func held(shape string) bool {
	if strings.HasPrefix(shape, later) {
		return false
	}
	h := fnv.New32a()
	h.Write([]byte(shape))
	return h.Sum32()%3 == 0
}

// shape is a way in which a secret, or what looks like one, is written.
type shape struct {
	name  string
	in    []string // sentences around a value, which stands at %s; used by turns
	value func(*maker) string
	n     int // how many are made; 0 for one a sentence, three at least
}

var escaper = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

var unescaper = strings.NewReplacer(`\\`, "\\", `\n`, "\n", `\t`, "\t", `\r`, "\r")

// lines makes the samples of shapes in the form of a corpus file.
func lines(shapes []shape, secret bool) string {
	var b strings.Builder
	for i, s := range shapes {
		m := &maker{rand.New(rand.NewPCG(42, uint64(i)+1))}
		n := s.n
		if n == 0 {
			n = max(3, len(s.in))
		}
		for j := range n {
			value := s.value(m)
			if secret {
				value = opening + value + closing
			}
			text := strings.Replace(s.in[j%len(s.in)], "%s", value, 1)
			fmt.Fprintf(&b, "%s\t%s\n", s.name, jointed(escaper.Replace(text)))
		}
	}
	return b.String()
}

// jointed puts a joint after every fourth character of a word that is longer
// than eight.
func jointed(text string) string {
	var b strings.Builder
	words := strings.SplitAfter(text, " ")
	for _, w := range words {
		runes := []rune(w)
		for i, r := range runes {
			if i > 0 && i%4 == 0 && len(runes) > 8 && runes[i-1] != '\\' {
				b.WriteString(joint)
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// samples reads a file of the corpus.
func samples(t testing.TB, path string) []sample {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	for line := range strings.Lines(string(data)) {
		name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: a line without a tab", path)
		}
		text = unescaper.Replace(strings.ReplaceAll(text, joint, ""))
		s := sample{shape: name}
		for {
			before, rest, ok := strings.Cut(text, opening)
			if !ok {
				break
			}
			secret, after, _ := strings.Cut(rest, closing)
			s.secrets = append(s.secrets, [2]int{len(before), len(before) + len(secret)})
			text = before + secret + after
		}
		s.text = text
		all = append(all, s)
	}
	return all
}

// The files of the corpus are those that the generator makes.
func TestCorpusFiles(t *testing.T) {
	for path, text := range map[string]string{
		"../testdata/secrets.tsv":  lines(secretShapes(), true),
		"../testdata/harmless.tsv": lines(harmlessShapes(), false),
	} {
		if *write {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("%s is not what the generator makes; run go test ./guard/secrets -run TestCorpusFiles -args -secrets.write", path)
		}
	}
	shapes := map[string]bool{}
	for _, s := range samples(t, "../testdata/secrets.tsv") {
		if len(s.secrets) == 0 {
			t.Errorf("%s: a line without a marked secret", s.shape)
		}
		shapes[s.shape] = true
	}
	if n := len(samples(t, "../testdata/secrets.tsv")); n < 150 || len(shapes) < 40 {
		t.Errorf("%d secrets in %d shapes, want 150 in 40 at least", n, len(shapes))
	}
	if n := len(samples(t, "../testdata/harmless.tsv")); n < 400 {
		t.Errorf("%d harmless lines, want 400 at least", n)
	}
}

// maker makes up values.
type maker struct{ r *rand.Rand }

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum = lower + upper + digits
	hexed = digits + "abcdef"
)

func (m *maker) of(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[m.r.IntN(len(set))]
	}
	return string(b)
}

func (m *maker) pick(words ...string) string { return words[m.r.IntN(len(words))] }

func (m *maker) alnum(n int) string { return m.of(alnum, n) }
func (m *maker) hex(n int) string   { return m.of(hexed, n) }
func (m *maker) url(n int) string   { return m.of(alnum+"_-", n) }
func (m *maker) b64(n int) string   { return m.of(alnum+"+/", n) }

func (m *maker) uuid() string {
	return m.hex(8) + "-" + m.hex(4) + "-4" + m.hex(3) + "-a" + m.hex(3) + "-" + m.hex(12)
}

// password is one as people choose it: a word, a number and a sign.
func (m *maker) password() string {
	word := m.pick("Tiger", "harbor", "Maple", "quartz", "Falcon", "river", "Pepper", "walnut", "Comet", "saddle")
	sign := m.pick("!", "@", "#", "$", "&", "*", "_", "-")
	switch m.r.IntN(4) {
	case 0:
		return word + sign + m.of(digits, 4)
	case 1:
		return word + m.of(digits, 3) + sign + m.of(lower, 2)
	case 2:
		return m.of(alnum, 4) + sign + word + m.of(digits, 2)
	}
	return word[:1] + "0" + word[1:] + sign + m.alnum(3) + m.of(digits, 2)
}

// word is a common English word of lower-case letters.
func (m *maker) word() string {
	return m.pick("apple", "river", "stone", "candle", "orbit", "velvet", "market", "window", "garden", "pencil",
		"bridge", "copper", "salad", "tunnel", "coral", "ladder", "magnet", "onion", "planet", "ribbon")
}

func (m *maker) words(n int, between string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = m.word()
	}
	return strings.Join(all, between)
}

// Package secrets finds keys, tokens and passwords in texts, and takes them
// out. It knows the rules of a kept library (gitleaks) and its own for what
// those miss: what people write about a password in English and Chinese,
// addresses with one in them, headers, and keys of vendors.
//
// What it finds it never hands on: a Finding says where a secret stands and
// which rule knew it. Its Fingerprint tells two secrets apart for who has the
// key, and tells nothing to who has not.
package secrets

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"memd/guard/reading"
)

// Finding is a secret in a text.
type Finding struct {
	Rule        string // the id of a rule: lower-case letters, digits and hyphens
	Start, End  int    // in bytes of the text as it was given, on the bounds of runes
	Fingerprint string // 32 hexadecimal digits, of the rule and of the secret as it reads
}

// Options are what a Scanner is made of.
type Options struct {
	// Key makes fingerprints. Who knows it can try values against them, so it
	// is kept as the tokens of a data directory are. With another key all
	// fingerprints are others.
	Key []byte

	// Allowed reports whether a fingerprint was let pass by a person. It may be
	// nil, and is asked by many at once.
	Allowed func(fingerprint string) bool

	// AllowValues let a secret pass that one of them matches from its first
	// character to its last; AllowSources whatever a memory of a source holds
	// that one of them matches so (ScanFields alone asks).
	AllowValues  []*regexp.Regexp
	AllowSources []*regexp.Regexp
}

// Scanner finds secrets. It is safe for concurrent use.
type Scanner struct {
	options Options
}

// New makes a Scanner. It costs nothing: rules are compiled when the first text
// is scanned, once in a process.
func New(options Options) *Scanner {
	options.AllowValues = whole(options.AllowValues)
	options.AllowSources = whole(options.AllowSources)
	return &Scanner{options: options}
}

// whole makes patterns match from the first character to the last.
func whole(patterns []*regexp.Regexp) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, p := range patterns {
		all = append(all, regexp.MustCompile(`\A(?:`+p.String()+`)\z`))
	}
	return all
}

// rules are what is compiled: the same for every Scanner, and never changed.
type rules struct {
	library *library
	own     *own
	ids     map[string]bool // of all rules
}

// onceRules makes the rules when they are first asked for.
type onceRules struct {
	once  sync.Once
	rules *rules
	made  atomic.Bool // for the test that nothing makes them but a text
}

func (o *onceRules) get() *rules {
	o.once.Do(func() {
		o.rules = newRules()
		o.made.Store(true)
	})
	return o.rules
}

var compiled onceRules

func newRules() *rules {
	r := &rules{library: newLibrary(), own: newOwn(), ids: map[string]bool{}}
	for _, rule := range r.library.rules {
		r.ids[rule.RuleID] = true
	}
	for _, rule := range r.own.rules {
		r.ids[rule.id] = true
	}
	for _, id := range alsoRedacted {
		r.ids[id] = true
	}
	return r
}

// Scan returns the secrets in text that no allow-list lets pass, in the order
// in which they stand. They may overlap, but none lies within another: of
// several rules that know the same one the most telling has it. A secret that is
// written in full-width characters, with invisible ones in between, over two
// lines, or in base64, hexadecimal or percent encoding is found too; then the
// finding covers all of that. What Redact put in the place of one is none.
func (s *Scanner) Scan(text string) []Finding {
	var left []Finding
	for _, c := range s.candidates(text) {
		if !s.passes(c) {
			left = append(left, c.Finding)
		}
	}
	return left
}

// candidate is a finding that an allow-list may let pass.
type candidate struct {
	Finding
	value string // as it reads; it stays within this package
}

// candidates are the secrets in text, none of them within another.
func (s *Scanner) candidates(text string) []candidate {
	if text == "" {
		return nil
	}
	r := compiled.get()
	var found []candidate
	for _, v := range r.views(text) {
		for _, h := range slices.Concat(r.library.find(v.S), r.own.find(v.S)) {
			if c, ok := s.candidate(v, h); ok {
				found = append(found, c)
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, vagueness(a.Rule)-vagueness(b.Rule), strings.Compare(a.Rule, b.Rule), strings.Compare(a.value, b.value))
	})
	var kept []candidate
	for _, c := range found {
		if len(kept) == 0 || c.End > kept[len(kept)-1].End {
			kept = append(kept, c)
		}
	}
	return kept
}

// vagueness is 0 for a rule that tells whose secret it is.
func vagueness(rule string) int {
	return slices.Index([]string{ruleGeneric, ruleToken, rulePassword}, rule) + 1
}

// hit is a finding within the text of a view.
type hit struct {
	rule       string
	start, end int
}

// candidate places a hit in the text that the view is of. It is false for one
// of nothing.
func (s *Scanner) candidate(v view, h hit) (candidate, bool) {
	value := v.S[h.start:h.end]
	if strings.TrimFunc(value, func(r rune) bool { return r == reading.Taken || r <= ' ' }) == "" {
		return candidate{}, false
	}
	start, end, ok := v.Original(h.start, h.end)
	return candidate{Finding{h.rule, start, end, s.fingerprint(h.rule, value)}, value}, ok
}

// passes reports whether an allow-list lets a candidate pass.
func (s *Scanner) passes(c candidate) bool {
	return s.options.Allowed != nil && s.options.Allowed(c.Fingerprint) || matchesAny(s.options.AllowValues, c.value)
}

// fingerprint names a secret. Half of the hash is kept: it is there to be typed,
// and no two of a store will ever be the same.
func (s *Scanner) fingerprint(rule, value string) string {
	mac := hmac.New(sha256.New, s.options.Key)
	mac.Write([]byte(rule + "\x00" + value))
	return hex.EncodeToString(mac.Sum(nil)[:sha256.Size/2])
}

func matchesAny(patterns []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

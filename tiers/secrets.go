package tiers

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/guard/secrets"
)

// WithGuard returns a Service that holds what is written against g, of which
// package configs has checked every value.
func (s *Service) WithGuard(g configs.Guard) *Service {
	guarded := *s
	guarded.guard = g
	guarded.scanner = guarded.newScanner()
	return &guarded
}

// WithAllowed returns a Service that lets pass what a list allows, with the
// fingerprints of its key. Without one fingerprints are of this Service alone.
func (s *Service) WithAllowed(list *guard.Allowed) *Service {
	allowing := *s
	allowing.allowed = list
	allowing.scanner = allowing.newScanner()
	return &allowing
}

func (s *Service) newScanner() *secrets.Scanner {
	options := secrets.Options{AllowValues: compile(s.guard.Allow.Values), AllowSources: compile(s.guard.Allow.Sources)}
	if s.allowed != nil {
		options.Key, options.Allowed = s.allowed.Key(), s.allowed.Has
	} else {
		options.Key = make([]byte, sha256.Size)
		rand.Read(options.Key) // never fails: it ends the process where the system has no randomness
	}
	return secrets.New(options)
}

func compile(texts []string) (patterns []*regexp.Regexp) {
	for _, text := range texts {
		patterns = append(patterns, regexp.MustCompile(text))
	}
	return patterns
}

// sealed is o under the key of the data folder. A name that a caller made up may be
// anything, a secret included; and a plain hash of a request would let who has the
// database alone try what was taken out of its texts.
func (s *Service) sealed(o Once) Once {
	if s.allowed == nil {
		return o
	}
	return Once{Key: s.seal("once-key", o.Key), Print: s.seal("once", o.Print)}
}

// seal is a hash of a text for one use that nobody can try without the key of the
// data folder.
func (s *Service) seal(use, text string) string {
	mac := hmac.New(sha256.New, s.allowed.Key())
	mac.Write([]byte(use + "\x00" + text))
	return hex.EncodeToString(mac.Sum(nil))
}

// secretsMode is what is done with secrets in m.
func (s *Service) secretsMode(m *memd.Memory) string {
	rules := s.guard.Secrets
	mode := rules.Short
	switch {
	case m.Tier == memd.Transient: // a session's own, whatever namespace its caller lives in
		return rules.Transient
	case m.Tier == memd.Long, m.Tier == memd.Archive && m.MemoryKey != "":
		mode = rules.Long
	}
	if strings.HasPrefix(m.Namespace, "team/") {
		for _, stricter := range []string{configs.GuardBlock, configs.GuardRedact} {
			if mode == stricter || rules.Team == stricter {
				return stricter
			}
		}
	}
	return mode
}

// scan finds the secrets in fields of m, by field, and what of them is allowed.
func (s *Service) scan(m *memd.Memory, fields []field) (found [][]secrets.Finding, allowed []decision) {
	texts := make([]secrets.Field, len(fields))
	for i, f := range fields {
		texts[i] = secrets.Field{Name: f.name, Text: *f.text, Label: f.label}
	}
	all, passed := s.scanner.ScanFields(m.Source, texts)
	for _, f := range passed {
		allowed = append(allowed, decision{allows, f.Field, f.Rule, f.Fingerprint})
	}
	found = make([][]secrets.Finding, len(fields))
	for _, f := range all {
		found[f.Index] = append(found[f.Index], f.Finding)
	}
	return found, allowed
}

// takeSecrets takes secrets out of fields of m, and returns those for which the
// write is refused.
func (s *Service) takeSecrets(in *inspected, m *memd.Memory, fields []field) (refused []decision) {
	mode := s.secretsMode(m)
	if mode != configs.GuardBlock && mode != configs.GuardRedact {
		return nil
	}
	found, allowed := s.scan(m, fields)
	in.done = append(in.done, allowed...)
	for i, f := range fields {
		if len(found[i]) == 0 {
			continue
		}
		if mode == configs.GuardBlock || f.fixed {
			in.wrong = append(in.wrong, wrong{f.name, *f.text})
			for _, one := range found[i] {
				refused = append(refused, decision{blocks, f.name, one.Rule, one.Fingerprint})
			}
			continue
		}
		// What was parted by what is taken out now may be one in its turn.
		clean, more := s.scanner.Clean(secrets.Redact(*f.text, found[i]))
		in.replace(f, clean)
		for _, one := range append(found[i], more...) {
			in.done = append(in.done, decision{redacts, f.name, one.Rule, one.Fingerprint})
			in.redacted(f.name, "%s: [redacted:%s] stands for a secret; if it is none, `memd guard allow %s --reason TEXT` lets it pass the next time",
				f.name, one.Rule, one.Fingerprint)
		}
	}
	return refused
}

// refusal words why a write is refused: rules and names of fields, and what to do.
func refusal(done []decision) *memd.Error {
	e := memd.Errorf(memd.CodeSecretDetected, "")
	var prints []string
	for _, d := range done {
		add(&e.Fields, d.field)
		add(&e.Rules, d.rule)
		add(&prints, d.fingerprint)
	}
	e.Field = e.Fields[0]
	e.Message = "this is not written down: " + places(done)
	if len(prints) == 0 {
		return e.WithHint("take it out; section guard of the configuration says what is done with personal data")
	}
	if len(prints) == 1 {
		return e.WithHint("take it out, and write where it is kept; if it is none, `memd guard allow %s --reason TEXT` lets it pass", prints[0])
	}
	const shown = 5
	named := strings.Join(prints[:min(len(prints), shown)], ", ")
	if more := len(prints) - shown; more > 0 {
		named += fmt.Sprintf(" and %d more, see memd log", more)
	}
	return e.WithHint("take them out, and write where they are kept; what is none passes by `memd guard allow FINGERPRINT --reason TEXT`: %s", named)
}

// add adds a word to a list, once.
func add(list *[]string, word string) {
	if word != "" && !slices.Contains(*list, word) {
		*list = append(*list, word)
	}
}

// places are the rules of decisions and their fields, in words.
func places(done []decision) string {
	var found []string
	for _, d := range done {
		add(&found, d.rule+" in "+d.field)
	}
	const most = 10
	text := strings.Join(found[:min(len(found), most)], ", ")
	if len(found) > most {
		text += " and more"
	}
	return text
}

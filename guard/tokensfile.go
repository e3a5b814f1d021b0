package guard

import (
	"encoding/hex"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
)

// parse reads a tokens file. Its errors name the line, never what stands in it.
func parse(data []byte) ([]entry, error) {
	names, sums := map[string]bool{}, map[digest]bool{}
	return parseLines(data, func(line []byte, _ []entry) (entry, error) {
		e, err := parseLine(line)
		if err == nil && (names[e.Name] || sums[e.sum]) {
			err = errors.New("the name or the hash stands on an earlier line too")
		}
		names[e.Name], sums[e.sum] = true, true
		return e, err
	})
}

func parseLine(line []byte) (entry, error) {
	var e entry
	if !readObject(line, &e) {
		return entry{}, errors.New("this is no JSON object with sha256, name, role, namespaces, access, created_at and expires_at")
	}
	if n, err := hex.Decode(e.sum[:], []byte(shortened(e.SHA256))); err != nil || n != len(e.sum) {
		return entry{}, errors.New("sha256 is not 64 hexadecimal digits")
	}
	e.ID = e.Name + "#" + hex.EncodeToString(e.sum[:8])
	return e, e.check()
}

// shortened cuts a digest's text to what a digest has room for, and makes a
// longer one too short to pass.
func shortened(s string) string {
	if len(s) != 2*len(digest{}) {
		return ""
	}
	return s
}

// check tells what is wrong with a token.
func (t Token) check() error {
	if err := label("name", t.Name, memd.MaxNameChars); err != nil {
		return err
	}
	if strings.EqualFold(t.Name, AdminName) || strings.EqualFold(t.Name, memd.LocalAdmin().Name) || strings.HasPrefix(t.Name, peerPrefix) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "name", "the names %s, %s and those that begin with %s are memd's own",
			AdminName, memd.LocalAdmin().Name, peerPrefix)
	}
	if !t.Role.Valid() {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "role", "role is not one of %s, %s, %s", memd.RoleRead, memd.RoleWrite, memd.RoleAdmin)
	}
	for _, ns := range t.Namespaces {
		if !memd.ValidNamespace(ns) {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "namespaces",
				"a namespace must be lower-case parts of [a-z0-9._-] joined by /, at most %d characters", memd.MaxNamespaceLen)
		}
	}
	if len(t.Access) > memd.MaxTags {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "access", "access has %d tags, at most %d are allowed", len(t.Access), memd.MaxTags)
	}
	for _, tag := range t.Access {
		if err := label("access", tag, memd.MaxTagChars); err != nil {
			return err
		}
	}
	return nil
}

// label checks a short text of one line that a person can see and tell from
// others: printable throughout, without space at its ends.
func label(field, s string, max int) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	n := utf8.RuneCountInString(s)
	if !utf8.ValidString(s) || n == 0 || n > max || strings.TrimSpace(s) != s || strings.IndexFunc(s, unprintable) >= 0 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s must be 1 to %d printable characters without space at its ends", field, max)
	}
	return nil
}

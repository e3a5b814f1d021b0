package guard

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
)

// readPrivate reads a file of at most limit bytes that only its owner may
// open, and the stamp of what it read.
func readPrivate(path string, limit int64) ([]byte, stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stampOf(path), err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	at := stamp{mod: info.ModTime(), size: info.Size(), inode: inode(info), mode: info.Mode()}
	if !info.Mode().IsRegular() {
		return nil, at, memd.Errorf(memd.CodeInvalidRequest, "%s is no regular file", path)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return nil, at, memd.Errorf(memd.CodeInvalidRequest, "%s is open to others than its owner (mode %04o)", path, perm).
			WithHint("chmod 600 %s, and change its tokens if others may have read it", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = memd.Errorf(memd.CodeInvalidRequest, "%s has more than %d bytes", path, limit)
	}
	return data, at, err
}

// parse reads a tokens file. Its errors name the line, never what stands in it.
func parse(data []byte) ([]entry, error) {
	var all []entry
	names, sums := map[string]bool{}, map[digest]bool{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := parseLine(line)
		if err == nil && (names[e.Name] || sums[e.sum]) {
			err = errors.New("the name or the hash stands on an earlier line too")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		names[e.Name], sums[e.sum] = true, true
		all = append(all, e)
	}
	return all, nil
}

func parseLine(line []byte) (entry, error) {
	var e entry
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil || dec.More() {
		return entry{}, errors.New("this is no JSON object with sha256, name, role, namespaces, access, created_at and expires_at")
	}
	if n, err := hex.Decode(e.sum[:], []byte(shortened(e.SHA256))); err != nil || n != len(e.sum) {
		return entry{}, errors.New("sha256 is not 64 hexadecimal digits")
	}
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

// format is the text that parse reads.
func format(all []entry) []byte {
	var b bytes.Buffer
	for _, e := range all {
		line, err := json.Marshal(e)
		if err != nil {
			panic(err) // strings, lists of them and a time always marshal
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
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

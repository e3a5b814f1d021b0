package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"memd"
	"memd/guard/confine"
)

// A name that is a slug already is its own file; any other has its slug and a part of
// its SHA-256. So the file depends on the note alone: the same name is the same file,
// another name another one, whatever else stands in the folder.

// extension of notes, and what stands before it in the copy of the row that a person's
// edit has overtaken.
const (
	extension = ".md"
	overtaken = ".memd"
)

// IndexFile is the name of the index.
const IndexFile = "MEMORY.md"

const (
	maxSlug = 80 // bytes
	hashHex = 16 // digits of the hash
)

// taken are slugs of files that mean something else, by whoever reads them.
const taken = " memory readme agents agent claude gemini skill "

// hashed is a slug that ends as one with a hash does.
var hashed = regexp.MustCompile(`(^|-)[0-9a-f]{16}$`)

// KeyOf is the memory_key of a note that states none: its name where that can be one.
func KeyOf(name string) string {
	if memd.ValidKey(name) && !hashed.MatchString(name) {
		return name
	}
	ascii := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		return '-'
	}, slug(name))
	return join(strings.Trim(dashes.ReplaceAllString(ascii, "-"), "-_"), name)
}

// Path is the file of a note that states everything, below the folder of notes: beside
// the index for those of the namespace home, else in a folder of their namespace. home
// may be "", for none.
func Path(home string, n *Note) string {
	// A name that does not lead to its key may be that of several.
	base, seed := n.Name, n.Name
	if KeyOf(n.Name) != n.MemoryKey {
		base, seed = n.MemoryKey, n.MemoryKey
		if KeyOf(base) != base {
			seed = "\x00" + base
		}
	}
	file := slug(base)
	if file != base || seed != base || hashed.MatchString(file) || !ownFile(file) {
		file = join(file, seed)
	}
	if n.Namespace == home {
		return file + extension
	}
	var parts []string
	for part := range strings.SplitSeq(n.Namespace, "/") {
		if confine.CheckPortable(part) != nil || len(part) > maxSlug || strings.HasSuffix(part, extension) || strings.HasPrefix(part, ".") || hashed.MatchString(part) {
			part = join(slug(part), part)
		}
		parts = append(parts, part)
	}
	return path.Join(append(parts, file+extension)...)
}

// OvertakenPath is the file beside a note's in which the row is kept that a person's
// edit has overtaken.
func OvertakenPath(file string) string {
	return strings.TrimSuffix(file, path.Ext(file)) + overtaken + extension
}

// IsNote reports whether a file may be a note by its name: Markdown, and neither the
// index nor an overtaken copy.
func IsNote(file string) bool {
	base := strings.ToLower(path.Base(file))
	return path.Ext(base) == extension && base != strings.ToLower(IndexFile) && !strings.HasSuffix(base, overtaken+extension) && base[0] != '.'
}

// ownFile reports whether a slug may be a file's without a hash: no system and no
// program takes that for another one.
func ownFile(s string) bool {
	if s == "" || strings.Contains(taken, " "+s+" ") || confine.CheckPortable(s+extension) != nil {
		return false
	}
	return strings.ToLower(strings.ToUpper(s)) == s // a dotless i, for one, comes back as another letter
}

// join puts a slug and the hash of a name together.
func join(slug, name string) string {
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:])[:hashHex]
	if slug == "" {
		return "note-" + hash
	}
	return slug + "-" + hash
}

var dashes = regexp.MustCompile(`-{2,}`)

// slug is the letters, digits, marks and low lines of a name, of one case and form,
// with a hyphen for what stands between, cut to what every file system takes. It may
// be empty.
func slug(name string) string {
	name = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	s := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		case r == '_', unicode.In(r, unicode.L, unicode.M, unicode.Nd):
			return r
		}
		return '-'
	}, name)
	s = dashes.ReplaceAllString(s, "-")
	for len(s) > maxSlug {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '-' || r == '_' || unicode.Is(unicode.M, r) })
	return strings.TrimRight(s, "-_")
}

package importers

import (
	"path/filepath"
	"strings"

	"memd"
	"memd/exchange/notes"
	"memd/tiers"
)

// SourceOf writes the absolute path of a file as a source, which is relative: to the
// root of its namespace where it stands below that, else to the home folder, else to
// the root of the file system. root and home may be "", for none.
func SourceOf(file, root, home string) string {
	for _, base := range []string{root, home, string(filepath.Separator)} {
		if base == "" {
			continue
		}
		rel, err := filepath.Rel(base, file)
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case rel == ".":
			return rel
		default:
			return folded(notes.SourceOf(filepath.ToSlash(rel)))
		}
	}
	return folded(notes.SourceOf(filepath.Base(file)))
}

// folded is a source with a folder before it: of a bare name memd wants to know the suffix.
func folded(source string) string {
	if strings.Contains(source, "/") {
		return source
	}
	return "./" + source
}

// Cited is the source of an event, "" for one that cannot be written: a file may have a name
// that no source has, such as one with a colon.
func Cited(source string) string {
	if tiers.CheckSource(source, memd.Event) != nil {
		return ""
	}
	return source
}

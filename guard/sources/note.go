package sources

import (
	"path"
	"regexp"
	"strings"
)

// A note (docs/format.md) may be the source of its own memory, and memd keeps in it what
// it knows of that. So the fields of memd say nothing that the memory could rest on, and
// do not count: those that name the note do, and so do a person's.
var (
	// noteFields are what every note states. No other page has all three.
	noteFields = [...]*regexp.Regexp{
		regexp.MustCompile(`(?m)^["']?name["']?[ \t]*:`),
		regexp.MustCompile(`(?m)^["']?description["']?[ \t]*:`),
		regexp.MustCompile(`(?m)^["']?type["']?[ \t]*:[ \t]*["']?(?:user|feedback|project|reference)["']?[ \t]*(?:#|$)`),
	}
	// kept is a field that memd adds to a note or writes anew, with its value.
	kept = regexp.MustCompile(`(?m)^["']?(?:kind|memory_key|namespace|importance|tags|source|verified_at|owner|access|expires_at|resolved_at|updatedAt|contentHash|version|syncHash)["']?[ \t]*:.*\n(?:[ \t-].*\n)*`)
)

// hash is that of a section that p cites. Of a note as a whole it leaves out what memd
// keeps in it.
func (p Path) hash(section string) string {
	if from, to, ok := frontmatter(section); ok && p.whole() && strings.EqualFold(path.Ext(p.File), ".md") {
		head := section[from:to]
		for _, field := range noteFields {
			if !field.MatchString(head) {
				return hash(section)
			}
		}
		section = section[:from] + kept.ReplaceAllString(head, "") + section[to:]
	}
	return hash(section)
}

package artefacts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memd"
)

// titleIn is the heading that names the whole file, -1 for none: the first one, if it
// alone is of the first level.
func titleIn(headings []heading) int {
	if len(headings) == 0 || headings[0].Level != 1 {
		return -1
	}
	for _, h := range headings[1:] {
		if h.Level == 1 && h.parent < 0 {
			return -1
		}
	}
	return 0
}

// anchor is that of a section, or of the nearest around it that has one.
func (r *reader) anchor(section int) string {
	for ; section >= 0; section = r.headings[section].parent {
		if name := r.headings[section].Anchor; name != "" {
			return name
		}
	}
	return ""
}

// named reports whether a heading is no more than the name of an instruction file,
// such as Repository Guidelines, which says nothing of what stands below it.
func (r *reader) named(section int) bool {
	if r.form != Agents || section != r.title {
		return false
	}
	k := kindOf(r.headings[section].title)
	return k != memd.Rule && k != memd.Pitfall && k != memd.Decision
}

// kind is what the nearest heading that tells one says.
func (r *reader) kind(section int) memd.Kind {
	for ; section >= 0 && !r.named(section); section = r.headings[section].parent {
		if k := kindOf(r.headings[section].title); k != "" {
			return k
		}
	}
	return r.form.kind()
}

// before is what of the headings stands before an item: an agent is shown the item
// alone, and below "Never" it says something else.
func (r *reader) before(section int, intro string) string {
	var titles []string
	if intro != "" {
		titles = append(titles, intro)
	}
	for ; section >= 0; section = r.headings[section].parent {
		if title := cut(r.headings[section].title, maxHeading); title != "" && !r.named(section) {
			titles = append(titles, title)
		}
	}
	if r.name != "" && r.title < 0 {
		titles = append(titles, cut(r.name, maxHeading))
	}
	for len(titles) > 1 && utf8.RuneCountInString(strings.Join(titles, " › ")) > maxBefore {
		titles = titles[:len(titles)-1]
	}
	if len(titles) == 0 {
		return ""
	}
	slices.Reverse(titles)
	return strings.Join(titles, " › ") + ": "
}

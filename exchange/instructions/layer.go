package instructions

import (
	"slices"
	"strings"

	"memd/guard/confine"
)

// layer reads the files of one layer into what was found.
type layer struct {
	*Found
	kind  Layer
	depth int     // of includes, 0 for as deep as maxFiles allows
	rule  *ruleOf // nil where files are no rules

	files  files           // of the folder at hand
	given  map[string]bool // keys of the files of that folder and what they include
	looked int             // files, of all folders
	bytes  int             // of those that were taken
	over   bool            // a bound was met, and told
}

// enter goes on to another folder. What an earlier one gave is given again where it
// has its own place: the nearer wins.
func (l *layer) enter(f files) {
	l.files, l.given = f, map[string]bool{}
}

// add reads a file of the layer, if it is there. It reports whether there is room
// for another.
func (l *layer) add(name string) bool { return l.take(name, nil, nil) }

// take reads a file and those that it includes, which come before it: of the two it
// has the last word. by are the keys of the files that include it, the innermost
// last, whose part is of.
func (l *layer) take(name string, by []string, of *Part) bool {
	data, err := l.files.read(name)
	if err != nil && of == nil && absent(err) && !l.files.has(name) {
		return true
	}
	origin, includer := l.files.origin(name), ""
	if of != nil {
		includer = of.Origin
	}
	if !l.room(origin, includer) {
		return false
	}
	key := l.files.key(name)
	switch {
	case err != nil:
		return l.skip(origin, includer, reason(err))
	case slices.Contains(by, key):
		return l.skip(origin, includer, "it includes itself")
	case l.given[key]:
		return l.skip(origin, includer, "it is given already")
	case l.depth > 0 && len(by) > l.depth:
		return l.skip(origin, includer, "included too deep")
	}
	if l.bytes+len(data) > maxLayer {
		return l.skip(origin, includer, "more text than is read of a layer")
	}
	part, includes, err := l.read(name, data, of)
	if err != nil {
		return l.skip(origin, includer, reason(err))
	}
	l.given[key] = true
	l.bytes += len(data)
	part.IncludedBy = includer
	goesOn := true
	for _, target := range includes {
		if goesOn = l.include(name, target, append(slices.Clone(by), key), part); !goesOn {
			break
		}
	}
	if strings.TrimSpace(part.Text) != "" {
		l.Parts = append(l.Parts, *part)
	}
	return goesOn
}

// read makes the part of a file, and tells what it includes.
func (l *layer) read(name string, data []byte, of *Part) (*Part, []string, error) {
	text, err := clean(data)
	if err != nil {
		return nil, nil, err
	}
	part := &Part{Origin: l.files.origin(name), Layer: l.kind, Path: l.files.place(name), Applies: true}
	switch {
	case of != nil:
		part.Paths, part.Applies = of.Paths, of.Applies
	case l.rule != nil:
		var head string
		if head, text, err = frontmatter(text); err != nil {
			return nil, nil, err
		}
		if part.Paths, err = globsOf(head); err != nil {
			return nil, nil, err
		}
		part.Applies = l.rule.applies(part.Paths)
	}
	var includes []string
	part.Text, includes = split(text)
	return part, includes, nil
}

func (l *layer) include(name, target string, by []string, of *Part) bool {
	if len(target) > maxTarget {
		part := strings.ToValidUTF8(target[:maxTarget], "") + "…"
		return l.room(part, of.Origin) && l.skip(part, of.Origin, confine.TooLong.Error())
	}
	file, err := l.files.target(name, target)
	if err != nil {
		return l.room(target, of.Origin) && l.skip(target, of.Origin, reason(err))
	}
	return l.take(file, by, of)
}

// room counts a file, and tells once that there is no room for more.
func (l *layer) room(origin, includer string) bool {
	if l.looked++; l.looked <= maxFiles {
		return true
	}
	if !l.over {
		l.over = true
		l.skip(origin, includer, "more files than are read of a layer; so are those behind it")
	}
	return false
}

func (l *layer) skip(origin, includer, why string) bool {
	l.Skipped = append(l.Skipped, Skipped{Origin: origin, Layer: l.kind, Reason: why, IncludedBy: includer})
	return true
}

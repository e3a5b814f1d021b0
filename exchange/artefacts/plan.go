package artefacts

import (
	"slices"
	"strings"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// Tags of memories that were made of artefacts. A row without the first is somebody
// else's, and left alone.
const (
	tagIndexed = "indexed"
	tagText    = "text:" // and what Item.digest says of the text that the row was made of
)

// digestOf is what a row says of the text it was made of, "" for nothing. It tells
// what has changed in the artefact, whatever a guard or a person made of the row.
func digestOf(row *memd.Memory) string {
	for _, tag := range row.Tags {
		if digest, ok := strings.CutPrefix(tag, tagText); ok {
			return digest
		}
	}
	return ""
}

func indexed(row *memd.Memory) bool { return slices.Contains(row.Tags, tagIndexed) }

// tagsOf are the tags of an item's row: its own, and those that people gave it.
func (e *entry) tagsOf() []string {
	all := []string{tagIndexed, string(e.Form), tagText + e.digest}
	if e.row == nil {
		return all
	}
	for _, tag := range e.row.Tags {
		if !strings.HasPrefix(tag, tagText) && !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// step is something to be done.
type step struct {
	outcome Outcome
	*entry               // nil for a row that nothing stands for
	row     *memd.Memory // nil for a new one
	key     string
	verify  bool      // of what is unchanged
	fate    memd.Fate // of what is held, "" where its row was written over
}

// found is what was found in a folder.
type found struct {
	entries  []*entry
	modified map[string]memd.Time     // when a file that was read was last written, by name
	gone     func(source string) bool // of a row whose file was not read: the file is gone
}

// renewal is the share of the fresh-for time after which a verification is renewed:
// a tenth, as groom has it.
const renewal = 10

// kept is what the store knows of a namespace.
type kept struct {
	rows  []memd.Memory        // the long ones
	ended map[string]memd.Fate // keys without one
}

// planner plans a run.
type planner struct {
	kept
	said    map[string]bool // source and content of rows that are somebody else's
	taken   map[string]bool // keys
	budgets configs.Budgets
	now     memd.Time
}

// plan says what is to be done that the rows say what the files do.
func plan(f found, k kept, b configs.Budgets, now memd.Time) []step {
	p := planner{kept: k, said: map[string]bool{}, taken: map[string]bool{}, budgets: b, now: now}
	own := map[string][]*memd.Memory{}
	for i := range k.rows {
		row := &k.rows[i]
		p.taken[row.MemoryKey] = true
		if indexed(row) {
			own[fileOf(row.Source)] = append(own[fileOf(row.Source)], row)
		} else {
			p.said[row.Source+" "+row.ContentHash] = true
		}
	}
	var steps []step
	for _, entries := range byFile(f.entries) {
		name := fileOf(entries[0].source)
		left := match(entries, own[name])
		delete(own, name)
		steps = append(steps, p.file(entries, left, f.modified[name])...)
	}
	for name, rows := range own { // of files that say nothing now
		for _, row := range rows {
			if _, read := f.modified[name]; (read || f.gone(row.Source)) && !gone(row) {
				steps = append(steps, step{outcome: Stale, row: row, key: row.MemoryKey})
			}
		}
	}
	return ordered(steps)
}

// byFile parts entries by their file.
func byFile(entries []*entry) (files [][]*entry) {
	for i, e := range entries {
		if i == 0 || fileOf(e.source) != fileOf(entries[i-1].source) {
			files = append(files, nil)
		}
		files[len(files)-1] = append(files[len(files)-1], e)
	}
	return files
}

// fileOf is what of a source names its file.
func fileOf(source string) string {
	name, _, _ := strings.Cut(source, "#")
	return name
}

// file is plan for one file. Where anything of it has changed the others are
// verified anew, since what memd keeps of their sections has changed as well.
func (p *planner) file(entries []*entry, left []*memd.Memory, modified memd.Time) []step {
	var steps []step
	for _, row := range left {
		if !gone(row) {
			steps = append(steps, step{outcome: Stale, row: row, key: row.MemoryKey})
		}
	}
	for _, e := range entries {
		steps = append(steps, p.entry(e))
	}
	changed := slices.ContainsFunc(steps, func(s step) bool { return s.outcome != Unchanged && s.outcome != Held })
	for i := range steps {
		if s := &steps[i]; s.outcome == Unchanged && s.row != nil {
			s.verify = changed || renew(s.row, modified, p.budgets, p.now)
		}
	}
	return steps
}

// entry is what is to be done about one item. What was forgotten, archived or has
// expired under the key that the item would get is not brought back.
func (p *planner) entry(e *entry) step {
	s := step{entry: e, row: e.row}
	switch {
	case e.row != nil && digestOf(e.row) == e.digest && e.writtenOver():
		s.outcome, s.key = Held, e.row.MemoryKey
	case e.row != nil && digestOf(e.row) == e.digest:
		s.outcome, s.key = Unchanged, e.row.MemoryKey
	case e.row != nil:
		s.outcome, s.key = Updated, e.row.MemoryKey
	case p.said[e.source+" "+e.contentHash()]:
		s.outcome = Unchanged
	default:
		s.key = newKey(fileOf(e.source), e.Item, map[string]bool{})
		if s.fate = p.ended[s.key]; s.fate != "" {
			s.outcome = Held
		} else {
			s.outcome, s.key = Created, newKey(fileOf(e.source), e.Item, p.taken)
		}
	}
	return s
}

// renew reports whether a row that says what its source does is verified anew: it is
// marked, its file was written since, or a part of the time has passed for which it
// stays fresh.
func renew(row *memd.Memory, modified memd.Time, b configs.Budgets, now memd.Time) bool {
	written := modified.After(row.VerifiedAt.Time) && !modified.After(now.Time)
	return row.Stale || row.SourceStatus == memd.SourceMissing || row.SourceStatus == memd.SourceChanged || written ||
		now.Sub(row.VerifiedAt.Time) >= b.FreshFor(row.Kind)/renewal
}

// redaction begins what a guard puts in the place of what must not be stored.
const redaction = "[redacted"

// writtenOver reports whether the row says something else than the item that it was
// made of, by another hand than a guard's: the artefact does not bear it out.
func (e *entry) writtenOver() bool {
	row := e.row
	if row.Summary == e.Summary && row.Why == e.Why && row.HowToApply == e.HowToApply {
		return false
	}
	return !strings.Contains(row.Summary+row.Why+row.HowToApply, redaction)
}

// contentHash is that of a row that says what the item does.
func (e *entry) contentHash() string {
	return tiers.ContentHash(&memd.Memory{Summary: e.Summary, RawContent: e.RawContent, Why: e.Why, HowToApply: e.HowToApply})
}

// ordered has the steps in one order: by source, and what is gone first, by key.
func ordered(steps []step) []step {
	place := func(s step) string {
		if s.entry == nil {
			return fileOf(s.row.Source)
		}
		return fileOf(s.source)
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		if c := strings.Compare(place(a), place(b)); c != 0 || a.entry != nil || b.entry != nil {
			return c
		}
		return strings.Compare(a.key, b.key)
	})
	return steps
}

package mirror

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// comparing brings both sides together, and tells what became of it.
type comparing struct {
	store  Store
	opts   Options
	stands func() error           // whether the folder is still the one that is watched
	told   map[place]folder.Entry // what was told of a file last, and still holds
	began  bool
}

// place is what an entry is about.
type place struct{ file, key string }

func (c *comparing) compare(ctx context.Context, touched []string) (again bool, err error) {
	if err := c.stands(); err != nil {
		return false, finalError{err}
	}
	report, err := folder.Sync(ctx, c.store, c.opts.Notes)
	if report == nil {
		return false, err
	}
	if told := c.tell(report, touched, err == nil); told != nil {
		return false, finalError{told}
	}
	if err == nil && !c.began {
		c.began = true
		c.opts.Began(report)
	}
	return slices.ContainsFunc(report.Files, passes), err
}

// passes reports whether a note was refused by what passes by itself.
func passes(e folder.Entry) bool {
	return e.Code == memd.CodeRateLimited || e.Code == memd.CodeStoreBusy
}

// tell tells what became of notes. What is wrong with a file stays wrong until somebody
// touches it: it is told of once. whole says that the report is of all of them.
func (c *comparing) tell(report *folder.Report, touched []string, whole bool) error {
	entries := report.Files
	if report.Index != nil {
		entries = append(slices.Clip(entries), *report.Index)
	}
	before := maps.Clone(c.told)
	if whole {
		clear(c.told)
	}
	for _, e := range entries {
		if e.Outcome == notes.Unchanged && e.Reason == "" && len(e.Warnings) == 0 {
			continue
		}
		if e.Did == notes.Nothing {
			at := place{e.File, e.MemoryKey}
			c.told[at] = e
			if reflect.DeepEqual(before[at], e) && !slices.Contains(touched, e.File) {
				continue
			}
		}
		if err := c.opts.Tell(e); err != nil {
			return err
		}
	}
	return nil
}

package importers

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"memd"
	"memd/exchange/jsonl"
	"memd/exchange/notes"
	"memd/guard/dates"
)

// Options of a Run.
type Options struct {
	DryRun bool      // compare, and write nothing; what guards would refuse of a long row is not known then
	Now    memd.Time // no date is later
	// Progress is told now and then how many entries were looked at; nil for nobody.
	Progress func(entries int)
	Zone     *time.Location // in which relative dates are made absolute, by the day of the entry; nil: they are left alone
}

// maxDated bounds what dates make of a text, in bytes; one that would be longer is left
// as it is.
const maxDated = 64<<10 - 1<<10

// date puts the dates beside the words of a text that tell them, on the day of at.
func (o Options) date(text *string, at memd.Time) {
	if o.Zone == nil {
		return
	}
	if dated := dates.Absolute(*text, at.In(o.Zone)); len(dated) <= maxDated {
		*text = dated
	}
}

// Run writes what a reader finds, and reports entry by entry. What is refused is
// reported and the others go on. An error is of the file or of the store: the report
// then tells how far it came, and another run goes on from there.
func Run(ctx context.Context, store Store, items Items, o Options) (Report, error) {
	if err := fit(ctx, store, items, o); err != nil {
		return newReport(o), err
	}
	return run(ctx, store, items, o)
}

// fit refuses an import for which there is no room before anything is written. What
// stands already needs none; it is looked for only where the number of all is too large.
func fit(ctx context.Context, store Store, items Items, o Options) error {
	coming := map[memd.Tier]int{}
	for it, err := range items {
		if _, isFault := errors.AsType[*notes.Fault](err); err != nil && !isFault {
			return err
		}
		switch {
		case it.Long != nil:
			coming[memd.Long]++
		case it.Short != nil:
			coming[memd.Short]++
		}
	}
	room, err := store.Room(ctx)
	if err != nil || tooMany(coming, room) == nil {
		return err
	}
	o.DryRun = true
	planned, err := run(ctx, store, items, o)
	if err != nil {
		return err
	}
	return tooMany(planned.new, room)
}

// tooMany is the error of an import of so many new rows, nil where there is room for
// them.
func tooMany(coming map[memd.Tier]int, room memd.Room) error {
	for _, t := range []memd.Tier{memd.Long, memd.Short} {
		if limit, known := room[t]; known && coming[t] > max(0, limit) {
			return memd.Errorf(memd.CodeBudgetExceeded, "nothing was imported: %d %s memories are new, and budgets.%s_rows has room for %d", coming[t], t, t, max(0, limit)).
				WithHint("raise budgets.%s_rows, or import less", t)
		}
	}
	return nil
}

// importing is one Run.
type importing struct {
	ctx    context.Context
	store  Store
	o      Options
	report Report
	seen   map[[16]byte]bool               // keys and ids of this run, as hashes
	gone   map[string]map[string]memd.Fate // by namespace and key, of the namespaces that were asked for

	rows, grown *jsonl.Sender
	n           int           // short rows that were sent
	waiting     map[int]*sent // by number, those that were not answered yet
}

func newReport(o Options) Report {
	return Report{DryRun: o.DryRun, Entries: []Entry{}, new: map[memd.Tier]int{}}
}

func run(ctx context.Context, store Store, items Items, o Options) (Report, error) {
	r := &importing{ctx: ctx, store: store, o: o, report: newReport(o), seen: map[[16]byte]bool{}, gone: map[string]map[string]memd.Fate{}, waiting: map[int]*sent{}}
	r.rows, r.grown = jsonl.NewSender(store, o.DryRun, r.answered), jsonl.NewSender(store, o.DryRun, r.settled)
	n := 0
	for it, err := range items {
		if n++; n%100 == 0 && o.Progress != nil {
			o.Progress(n)
		}
		if err == nil {
			err = r.take(it)
		} else if fault, ok := errors.AsType[*notes.Fault](err); ok {
			r.report.add(faulty(fault), "")
			err = nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return r.report, err
		}
	}
	return r.report, r.flush()
}

func (r *importing) take(it Item) error {
	if it.Short != nil {
		return r.short(it)
	}
	e := Entry{File: it.File, Line: it.Line, Namespace: it.Long.Namespace, MemoryKey: it.Long.MemoryKey}
	switch {
	case it.Long.VerifiedAt.IsZero():
		e = e.refuse(memd.CodeMissingField, undated)
	case r.again(it.Long.Namespace, it.Long.MemoryKey):
		e = e.refuse(memd.CodeInvalidRequest, "another entry before it has the same name")
	default:
		var err error
		if e, err = r.long(e, *it.Long); err != nil {
			return err
		}
	}
	r.report.add(e, memd.Long)
	return nil
}

// undated says why an entry is refused that would count as verified today.
const undated = "neither the entry nor the file says of when it is: a file has a date, a pipe has none"

// again reports whether a key, or an id, came before in this run.
func (r *importing) again(namespace, name string) bool {
	h := sha256.Sum256([]byte(namespace + "\x00" + name))
	sum := [16]byte(h[:])
	was := r.seen[sum]
	r.seen[sum] = true
	return was
}

// earlier is at, or now where that is earlier: a file's date may lie ahead.
func earlier(at, now memd.Time) memd.Time {
	if at.After(now.Time) {
		return now
	}
	return at
}

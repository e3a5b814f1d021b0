package groom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"memd"
	"memd/store"
)

// evidence is what the boxes are decided by.
type evidence struct {
	*Auditor
	ctx    context.Context
	caller memd.Caller
	now    memd.Time

	heads   []head         // live, of the namespaces that the caller sees, in the order of namespaces and keys
	stray   []store.Named  // long rows that no head accounts for
	lapsed  []store.Named  // rows that should be gone, for more than lapseGrace
	overdue []store.Named  // short rows that should be in the archive
	marked  []store.Named  // rows with a tag of sensitiveTags
	secrets []string       // ids of long rows with a secret
	rules   map[string]int // by rule of the guards: in how many long rows
	shorts  map[string]int // short rows by namespace
	passing int            // transient and archived rows
	hits    map[string]int // of pitfalls since the last full groom
	metas   map[string]string
	records []record // what is kept beside the rows
	leaks   []string // places beside the rows that hold a body
	roots   map[string]*project

	lastFull memd.Time // when the last full groom ended that was whole
	reports  []Report  // newest first
	unread   []string  // databases that cannot be read
	failed   error     // why the rows could not be read
}

// head is a live head. Of pitfalls it has the raw content too.
type head struct {
	memd.Memory
	sourceHash string
}

const (
	// overdueAfter is how long a weekly groom may be late.
	overdueAfter = 8 * 24 * time.Hour
	// lapseGrace is how long the hourly groom may be late.
	lapseGrace = time.Hour
)

// due is since when groom must have seen to what was due: its last full run, or
// when that should have been. Where that run was a retry of the passes that had
// failed, the others ran before.
func (e *evidence) due() memd.Time {
	last := e.lastFull
	for _, r := range e.reports {
		if !r.Light && !r.FinishedAt.After(e.lastFull.Time) {
			last = r.FinishedAt
			if len(r.Passes) >= len(passes) {
				break
			}
		}
	}
	latest := memd.At(e.now.Add(-overdueAfter))
	if last.After(latest.Time) {
		return last
	}
	return latest
}

// gather reads what the boxes need of the databases: most of it in one reading, and
// what takes long, which is to look into texts, outside of any.
func (a *Auditor) gather(ctx context.Context, caller memd.Caller) *evidence {
	e := &evidence{Auditor: a, ctx: ctx, caller: caller, now: a.opts.Store.Now(), rules: map[string]int{}, roots: map[string]*project{}}
	e.failed = a.opts.Store.View(ctx, func(v *store.View) error {
		for _, read := range []func(*store.View) error{e.readMeta, e.readHeads, e.readRows, e.readRecords} {
			if err := read(v); err != nil {
				return err
			}
		}
		var err error
		e.unread, err = v.Unavailable()
		return err
	})
	if e.failed == nil {
		e.failed = e.readSecrets()
	}
	e.findLeaks()
	return e
}

func (e *evidence) readMeta(v *store.View) (err error) {
	if e.metas, err = v.Metas(""); err != nil {
		return err
	}
	if text := e.metas[fullKey]; text != "" {
		if e.lastFull, err = memd.ParseTime(text); err != nil {
			e.lastFull = memd.Time{} // edited by hand: as if it never was
		}
	}
	if err := json.Unmarshal([]byte(e.metas[reportsKey]), &e.reports); err != nil {
		e.reports = nil
	}
	e.hits, err = v.Hits(e.lastFull)
	return err
}

func (e *evidence) readHeads(v *store.View) error {
	return v.EachHead(func(m memd.Memory, h store.Head) error {
		if !e.caller.Sees(m.Namespace) || !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(e.now.Time) {
			return nil
		}
		if m.Kind == memd.Pitfall {
			whole, ok, err := v.Row(h)
			if err != nil {
				return err
			}
			if ok {
				m = whole
			}
		}
		e.heads = append(e.heads, head{m, h.SourceHash})
		return nil
	})
}

func (e *evidence) readRows(v *store.View) (err error) {
	if e.stray, err = e.seen(v.StrayKeys()); err != nil {
		return err
	}
	b := e.opts.Store.Budgets()
	if e.overdue, err = e.seen(v.OverdueShort(store.Overdue{
		At: e.due(), Retention: b.ShortRetention, ByValue: b.ShortArchiveAfter, Importance: b.ShortArchiveImportance,
	})); err != nil {
		return err
	}
	for _, t := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
		lapsed, err := e.seen(v.Lapsed(t, memd.At(e.now.Add(-lapseGrace))))
		if err != nil {
			return err
		}
		e.lapsed = append(e.lapsed, lapsed...)
		held, err := v.Namespaces(t)
		if err != nil {
			return err
		}
		if t == memd.Short {
			e.shorts = held
			continue
		}
		for namespace, n := range held {
			if e.caller.Sees(namespace) {
				e.passing += n
			}
		}
	}
	for _, t := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
		marked, err := e.seen(v.Tagged(t, sensitiveTags[:]))
		if err != nil {
			return err
		}
		e.marked = append(e.marked, marked...)
	}
	return nil
}

// seen are those rows whose namespaces the caller sees.
func (e *evidence) seen(rows []store.Named, err error) ([]store.Named, error) {
	var seen []store.Named
	for _, n := range rows {
		if e.caller.Sees(n.Namespace) {
			seen = append(seen, n)
		}
	}
	return seen, err
}

// idsOf are the ids of rows.
func idsOf(rows []store.Named) []string {
	ids := make([]string, len(rows))
	for i, n := range rows {
		ids[i] = n.ID
	}
	return ids
}

// outcome is how a box was decided.
type outcome struct {
	looked int      // at how many things; 0: the box does not apply
	bad    []string // ids of the rows that fail it
	wrong  bool     // whether it fails though no row does
	how    string
	fix    string
	unread string // why what it depends on could not be read
}

func (o outcome) box() Box {
	b := Box{How: o.how, IDs: []string{}, Verdict: VerdictPass}
	switch {
	case o.unread != "":
		b.Verdict, b.Fix = VerdictFail, "memd doctor"
		b.How = o.unread + "; " + o.how
	case o.looked == 0:
		b.Verdict = VerdictNone
	}
	if len(o.bad) > 0 || o.wrong {
		b.Verdict, b.Fix = VerdictFail, o.fix
	}
	b.IDs = append(b.IDs, o.bad[:min(len(o.bad), maxBoxIDs)]...)
	if more := len(o.bad) - maxBoxIDs; more > 0 {
		b.How += fmt.Sprintf("; %d more ids are not listed", more)
	}
	return b
}

// judge decides a box that depends on rows: it looked at so many, of which some
// are bad.
func (e *evidence) judge(looked int, bad []string, how, fix string) outcome {
	o := e.judgeMeta(how, fix)
	o.looked, o.bad = looked, bad
	if e.failed == nil {
		o.unread = strings.Join(e.unread, ", ")
	}
	return o
}

// judgeMeta decides a box that depends on the active database alone: it applies,
// and passes unless it is found wrong.
func (e *evidence) judgeMeta(how, fix string) outcome {
	o := outcome{looked: 1, how: how, fix: fix}
	if e.failed != nil {
		o.unread = "the rows could not be read: " + reasonOf(e.failed)
	}
	return o
}

// reasonOf words an error without its cause.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Message
	}
	return string(memd.CodeOf(err))
}

// counted is n with what is counted.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ofKind are the heads of some kinds.
func (e *evidence) ofKind(kinds ...memd.Kind) []head {
	var found []head
	for _, h := range e.heads {
		for _, k := range kinds {
			if h.Kind == k {
				found = append(found, h)
			}
		}
	}
	return found
}

// failing are the ids of those heads that fail a test.
func failing(heads []head, fails func(head) bool) []string {
	var ids []string
	for _, h := range heads {
		if fails(h) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

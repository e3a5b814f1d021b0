package artefacts

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"memd"
)

// kept is what the store knows of the namespace.
func (r *run) kept(ctx context.Context) (k kept, err error) {
	if k.ended, err = r.store.Gone(ctx, r.namespace); err != nil {
		return k, err
	}
	req := memd.List{Tier: memd.Long, Namespace: r.namespace, Access: r.opts.Access, Limit: memd.MaxListLimit}
	for {
		page, err := r.store.List(ctx, req)
		if err != nil {
			return k, err
		}
		k.rows = append(k.rows, page.Memories...)
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			return k, nil
		}
	}
}

// room refuses, before anything is written, more new keys than fit. A dry run says so.
func (r *run) room(ctx context.Context, steps []step, here int) error {
	fresh := 0
	for _, s := range steps {
		if s.outcome == Created {
			fresh++
		}
	}
	if fresh == 0 {
		return nil
	}
	room, err := r.store.Room(ctx)
	if err != nil {
		return err
	}
	free, budget := room[memd.Long], "long_rows"
	if share := r.opts.Budgets.PerNamespace; share > 0 {
		if left := max(1, int(float64(r.opts.Budgets.LongRows)*share)) - here; left < free {
			free, budget = left, "per_namespace"
		}
	}
	if fresh <= free {
		return nil
	}
	if r.opts.DryRun {
		r.warn(fmt.Sprintf("%d new keys do not fit: there is room for %d (budgets.%s)", fresh, max(free, 0), budget))
		return nil
	}
	return memd.Errorf(memd.CodeBudgetExceeded, "%d new long-term keys do not fit, there is room for %d (budgets.%s); nothing was written", fresh, max(free, 0), budget).
		WithHint("index a smaller folder, forget keys, or raise the budget")
}

// carryOut does what was planned, one after the other.
func (r *run) carryOut(ctx context.Context, steps []step, modified map[string]memd.Time) error {
	asking, cancel := context.WithTimeout(ctx, gitTotal)
	defer cancel()
	dates := dates{top: r.top, known: map[string]map[string]int64{}}
	for _, s := range steps {
		res := Result{Outcome: s.outcome, MemoryKey: s.key}
		if s.entry != nil {
			res.File, res.Line = s.File, s.Line
		} else if name, ok := r.file(s.row.Source); ok {
			res.File = r.name(name)
		}
		if s.row != nil {
			res.ID, res.Version = s.row.ID, s.row.Version
		}
		switch {
		case s.outcome == Held && s.fate == "":
			res.Reason = "its memory was written over, and is not verified"
		case s.outcome == Held:
			res.Reason = "its memory is " + string(s.fate)
		}
		if r.opts.DryRun || s.outcome == Held {
			r.count(s, res)
			continue
		}
		w, err := r.do(ctx, s, func() memd.Time { return r.created(asking, &dates, s, modified) })
		switch e, refused := refusal(err); {
		case refused:
			res.Outcome, res.Code, res.Reason = Refused, e.Code, e.Message
		case err != nil:
			return err
		case w != nil:
			res.ID, res.Version = w.ID, w.Version
			switch {
			case w.ID == "": // it was taken for memd's own words
				res.Outcome, res.Reason = Refused, strings.Join(w.Warnings, "; ")
			case w.Unchanged:
				res.Outcome = Unchanged
			}
			r.heed(w)
		}
		r.count(s, res)
	}
	return nil
}

func (r *run) count(s step, res Result) {
	r.report.add(res)
	if s.verify && res.Outcome == Unchanged {
		r.report.Verified++
	}
}

// do makes the call that a step takes; nil for none.
func (r *run) do(ctx context.Context, s step, created func() memd.Time) (*memd.Written, error) {
	var w memd.Written
	var err error
	switch {
	case s.outcome == Stale:
		w, err = r.store.Verify(ctx, s.row.ID, memd.Verify{SourceStatus: memd.SourceMissing})
	case s.outcome == Unchanged && s.verify:
		w, err = r.store.Verify(ctx, s.row.ID, memd.Verify{})
	case s.outcome == Unchanged:
		return nil, nil
	default:
		req := memd.RememberLongTerm{
			Namespace: r.namespace, MemoryKey: s.key, Source: s.source, Kind: s.Kind, Tags: s.tagsOf(), CreatedAt: created(),
			Summary: s.Summary, RawContent: s.RawContent, Why: s.Why, HowToApply: s.HowToApply,
		}
		base, importance := 0, importanceOf(s.Kind)
		if s.row != nil { // of which people may have changed how much it counts
			base = s.row.Version
		} else {
			req.Importance = &importance
		}
		req.BaseVersion = &base
		w, err = r.store.RememberLongTerm(ctx, req)
	}
	return &w, err
}

// created is when what an item says was written: when its newest line was committed,
// else when its file was; zero where that is not to be believed.
func (r *run) created(ctx context.Context, d *dates, s step, modified map[string]memd.Time) memd.Time {
	now := r.opts.Now()
	name, _ := r.file(s.source)
	at := d.of(ctx, path.Join(r.within, name), s.lines)
	if at.IsZero() || at.After(now) {
		at = modified[fileOf(s.source)].Time
	}
	if at.After(now) || at.IsZero() || at.UTC().Year() < memd.FirstYear {
		return memd.Time{}
	}
	return memd.At(at)
}

// refusal is an error that is about one item alone.
func refusal(err error) (*memd.Error, bool) {
	e, ok := errors.AsType[*memd.Error](err)
	return e, ok && slices.Contains([]memd.Code{
		memd.CodeInvalidRequest, memd.CodeTooLarge, memd.CodeMissingSource, memd.CodeMissingField, memd.CodeSecretDetected, memd.CodeNotDurableFact,
		memd.CodeVersionConflict, memd.CodeNotFound,
	}, e.Code)
}

// maxWarnings bounds those of a report.
const maxWarnings = 20

// heed notes what the store warns of.
func (r *run) heed(w *memd.Written) {
	for _, warning := range w.Warnings {
		r.warn(w.MemoryKey + ": " + warning)
	}
}

func (r *run) warn(warning string) {
	if len(r.report.Warnings) < maxWarnings && !slices.Contains(r.report.Warnings, warning) {
		r.report.Warnings = append(r.report.Warnings, warning)
	}
}

package folder

import (
	"context"
	"errors"
	"sync"

	"memd"
	"memd/exchange/notes"
	"memd/tiers"
)

const (
	// writers is how many notes are settled at a time: the store commits what waits
	// together, and so does the disk.
	writers = 32
	// tries bounds how often a note is compared anew because one of its sides moved.
	tries = 4
)

// settle brings every task to its end.
func (j *job) settle(ctx context.Context, tasks []*task) error {
	if j.direction.rows {
		if err := j.fits(ctx, tasks); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	each(ctx, writers, len(tasks), func(i int) {
		t := tasks[i]
		err := j.bring(ctx, t)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			stop(err)
			return
		}
		j.report.Files = append(j.report.Files, t.done)
		if t.note != nil {
			j.list(t.note, t.name)
		}
	})
	return context.Cause(ctx)
}

// fits says before anything is written if there is no room for all new keys.
func (j *job) fits(ctx context.Context, tasks []*task) error {
	keys := 0
	for _, t := range tasks {
		if t.row == nil && j.compare(t).Do == notes.WriteRow {
			keys++
		}
	}
	if keys == 0 {
		return nil
	}
	room, err := j.store.Room(ctx)
	if free := room[memd.Long]; err == nil && keys > free {
		err = memd.Errorf(memd.CodeBudgetExceeded, "the folder brings %d new long-term memories, and there is room for %d (budgets.long_rows): nothing was written", keys, max(0, free)).
			WithHint("raise budgets.long_rows, forget what no longer holds, or import a smaller folder")
	}
	return err
}

// compare is notes.Compare, and what it cannot know: how a memory ended, and which time
// it is.
func (j *job) compare(t *task) notes.Verdict {
	s := notes.Sides{Last: t.last, Row: t.says(), Gone: t.gone.Fate == memd.FateForgotten || t.gone.Fate == memd.FateDeleted}
	if t.file != nil {
		s.File = t.file.note
	}
	if s.File == nil || s.Row != nil {
		return notes.Compare(s)
	}
	stays := func(reason string) notes.Verdict {
		return notes.Verdict{Outcome: notes.Unchanged, Do: notes.Nothing, Reason: reason}
	}
	switch ends := s.File.ExpiresAt; {
	case t.gone.Fate == memd.FateArchived, t.gone.Fate == "" && !s.File.ResolvedAt.IsZero():
		return stays("the memory is resolved, and in the archive")
	case t.gone.Fate == memd.FateExpired, !ends.IsZero() && !ends.After(j.Now()):
		return stays("the memory has expired")
	}
	if at := t.gone.ForgottenAt; !at.IsZero() && s.File.UpdatedAt.After(at.Time) {
		return notes.Verdict{
			Outcome: notes.Refused, Do: notes.Nothing,
			Reason: "the memory was forgotten here, and the file is of a later one, of another store or from after a backup; to remember it anew give it another name",
		}
	}
	v := notes.Compare(s)
	if s.Gone && v.Do == notes.Nothing && untouched(s.File) {
		v = notes.Verdict{Outcome: notes.Updated, Do: notes.RemoveFile, Reason: "the memory was forgotten"}
	}
	return v
}

// untouched reports whether the texts of a note are those of the row that it was last
// the same as.
func untouched(n *notes.Note) bool {
	return n.SyncHash != "" && contentHash(n.Request(0)) == n.ContentHash
}

// contentHash is the content_hash of the row that is asked for.
func contentHash(req memd.RememberLongTerm) string {
	return tiers.ContentHash(&memd.Memory{Summary: req.Summary, RawContent: req.RawContent, Why: req.Why, HowToApply: req.HowToApply})
}

// errMoved is the error of a side that was not as it had been compared.
var errMoved = errors.New("a side has moved")

// bring settles one task. Where a side moves meanwhile both are read and compared anew.
func (j *job) bring(ctx context.Context, t *task) error {
	for try := 1; ; try++ {
		switch err := j.attempt(ctx, t); {
		case err == nil:
			return nil
		case fatal(ctx, err):
			return err
		case err != errMoved:
			t.done = t.done.refuse(err)
			return nil
		case try == tries:
			t.done.Outcome, t.done.Did, t.done.Reason = notes.Conflict, notes.Nothing, "file and memory keep changing: nothing was done"
			return nil
		}
		if err := j.again(ctx, t); err != nil {
			return err
		}
	}
}

// attempt compares a task and does what is to be done.
func (j *job) attempt(ctx context.Context, t *task) error {
	t.done, t.note = Entry{File: shown(t.name), Namespace: t.id.namespace, MemoryKey: t.id.key}, t.says()
	if t.file == nil && t.row == nil {
		t.pending("file and memory are gone")
		return nil
	}
	if t.file != nil {
		if t.file.fault != nil { // since it was planned
			return t.file.fault
		}
		if t.file.warning != "" {
			t.done.Warnings = []string{t.file.warning}
		}
	}
	v := j.compare(t)
	t.done.Outcome, t.done.Did, t.done.Reason = v.Outcome, v.Do, v.Reason
	return j.act(ctx, t, v)
}

// fatal reports whether an error is one of the whole run.
func fatal(ctx context.Context, err error) bool {
	refusal, ok := errors.AsType[*memd.Error](err)
	return ctx.Err() != nil || ok && (refusal.Code == memd.CodeStoreFailed || refusal.Code == memd.CodeStoreBusy || refusal.Code == memd.CodeUnauthorized)
}

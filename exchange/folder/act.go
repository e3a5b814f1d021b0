package folder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"memd"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// filePerm is the permission of a new file: memories are private. One that is there
// keeps its own.
const filePerm = 0o600

// act does what is to be done, as far as the run writes that side.
func (j *job) act(ctx context.Context, t *task, v notes.Verdict) error {
	switch v.Do {
	case notes.WriteRow, notes.KeepBoth:
		if v.Do == notes.KeepBoth && !j.shows(t) {
			return restricted()
		}
		if j.direction.rows {
			return j.writeRow(ctx, t, v)
		}
		if v.Do == notes.KeepBoth {
			return j.keep(t)
		}
		t.pending("the file says something else: memd import --notes takes that")
		if t.row == nil {
			t.done.Reason = "not in the store: memd import --notes takes it"
		}
		if t.row == nil && !j.reads(t.file, t.file.note.Access) {
			t.done.Reason = unnamed
		}
	case notes.WriteFile:
		switch {
		case j.direction.files && v.Outcome == notes.Unchanged:
			return j.stamp(t)
		case j.direction.files && !j.shows(t):
			t.pending(unnamed)
		case j.direction.files:
			return j.writeFile(ctx, t)
		case v.Outcome == notes.Unchanged:
			t.done.Did = notes.Nothing
		default:
			t.pending("the memory says something else: memd export --notes writes that")
		}
	case notes.RemoveFile:
		if !j.direction.files {
			t.pending(v.Reason + ": memd export --notes removes the file")
			return nil
		}
		if j.DryRun {
			return nil
		}
		if err := j.dropOvertaken(t); err != nil {
			return moved(err)
		}
		return moved(j.dir.RemoveHeld(t.name, t.file.sum))
	}
	return nil
}

// pending reports what a run in the other direction will do.
func (t *task) pending(reason string) {
	t.done.Outcome, t.done.Did, t.done.Reason = notes.Unchanged, notes.Nothing, reason
}

// moved is errMoved for a file that changed meanwhile.
func moved(err error) error {
	if errors.Is(err, confine.Changed) {
		return errMoved
	}
	return err
}

// again reads both sides anew.
func (j *job) again(ctx context.Context, t *task) error {
	m, ok, err := j.row(ctx, t.id)
	if err != nil {
		return err
	}
	if t.file = j.look(t.name); t.file != nil && t.file.fault == nil && identOf(t.file.note) != t.id {
		t.file.fault = memd.FieldErrorf(memd.CodeVersionConflict, "memory_key", "the file has become that of another memory meanwhile: run this again")
	}
	if t.holds(nil); !ok {
		return j.loadFate(ctx, t)
	}
	if j.reads(t.file, m.Access) {
		t.holds(&m)
	}
	return nil
}

// loadFate looks up what became of a memory whose row has gone.
func (j *job) loadFate(ctx context.Context, t *task) error {
	fates := job{store: j.store, gone: map[ident]memd.Gone{}}
	err := fates.loadGone(ctx, t.id.namespace, map[string]bool{t.id.key: true})
	t.gone = fates.gone[t.id]
	return err
}

// render is a note as the bytes of its file.
func render(n *notes.Note) ([]byte, error) {
	var b bytes.Buffer
	err := n.Render(&b)
	return b.Bytes(), err
}

// exchange gives a task's file another content, and notes that it is the file now.
func (j *job) exchange(t *task, data []byte) error {
	var held *[sha256.Size]byte
	if t.file != nil {
		held = &t.file.sum
	}
	sum := sha256.Sum256(data)
	if held != nil && sum == *held {
		t.done.Did = notes.Nothing
		return nil
	}
	if j.DryRun {
		return nil
	}
	if err := j.dir.Exchange(t.name, held, data, filePerm); err != nil {
		return moved(err)
	}
	t.file = &file{name: t.name, sum: sum} // that it can be read was tried when it was made
	return nil
}

// writeFile writes a file from its row.
func (j *job) writeFile(ctx context.Context, t *task) error {
	var over *notes.Note
	if t.file != nil {
		over = t.file.read
	}
	place := j.names.place(t.id.namespace, t.name)
	note := t.says()
	if over != nil {
		note = notes.FromMemory(*t.row, over)
	}
	data, err := render(note.At(place))
	if err != nil {
		return err
	}
	if err := j.exchange(t, data); err != nil {
		return err
	}
	if _, looked := j.Roots[t.id.namespace]; !looked || j.DryRun || t.row.Source != place.Source || t.done.Did == notes.Nothing {
		return nil
	}
	return j.standBy(ctx, t, data)
}

// standBy verifies a row that rests on the file which was just made of it: the file says
// what the row says, and would else be taken for one that has changed since the row was
// verified. data is what the file holds.
func (j *job) standBy(ctx context.Context, t *task, data []byte) error {
	verified, err := j.store.Verify(ctx, t.row.ID, memd.Verify{VerifiedAt: t.row.VerifiedAt})
	if err != nil {
		return lost(err)
	}
	row := *t.row
	row.UpdatedAt = verified.UpdatedAt
	t.holds(&row)
	if t.file.read, err = notes.Parse(bytes.NewReader(data), ""); err == nil {
		t.file.note, err = j.names.resolve(t.file.read, t.name)
	}
	if err != nil {
		return err
	}
	did := t.done.Did
	err = j.stamp(t)
	t.done.Did = did
	return err
}

// lost is errMoved for a row that went meanwhile.
func lost(err error) error {
	if refusal, ok := errors.AsType[*memd.Error](err); ok && refusal.Code == memd.CodeNotFound {
		return errMoved
	}
	return err
}

// stamp brings what memd keeps in a file up to date.
func (j *job) stamp(t *task) error {
	row, said := t.says(), t.file.note.Digest()
	t.last = row.SyncHash
	if t.file.read.IsStamped(row, said) {
		t.done.Did = notes.Nothing
		return nil
	}
	data, err := render(t.file.read.Stamped(row, said))
	if err != nil {
		return err
	}
	return j.exchange(t, data)
}

// keep writes the row's note beside the file.
func (j *job) keep(t *task) error {
	name := overtaken(t.name)
	data, err := render(t.says().At(j.names.place(t.id.namespace, t.name)))
	if err != nil || j.DryRun {
		return err
	}
	if old, err := j.dir.Read(name, notes.MaxBytes); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return j.dir.Write(name, data, filePerm)
}

// dropOvertaken removes what keep once wrote beside the file of a memory that was
// forgotten, unless a person has changed it.
func (j *job) dropOvertaken(t *task) error {
	name := overtaken(t.name)
	data, err := j.dir.Read(name, notes.MaxBytes)
	if err != nil {
		return nil // mostly there is none; nor can another be told to be memd's
	}
	note, err := notes.Parse(bytes.NewReader(data), "")
	if err == nil {
		note, err = j.names.resolve(note, t.name)
	}
	if err != nil || identOf(note) != t.id || note.SyncHash != note.Digest() {
		return nil
	}
	return j.dir.RemoveHeld(name, sha256.Sum256(data))
}

// writeRow writes a row from its file, over the version alone that it was compared with.
func (j *job) writeRow(ctx context.Context, t *task, v notes.Verdict) error {
	if v.Do == notes.KeepBoth {
		if err := j.keep(t); err != nil {
			return err
		}
	}
	note := t.file.note
	if j.DryRun {
		t.note = note
		if t.row != nil {
			t.note = note.Over(t.says())
		}
		return nil
	}
	req := note.Request(v.Base)
	if t.row != nil {
		req = dated(req, *t.row)
	}
	written, err := j.store.RememberLongTerm(ctx, req)
	if refusal, ok := errors.AsType[*memd.Error](err); ok && refusal.Code == memd.CodeVersionConflict {
		if refusal.Head != nil && !j.reads(t.file, refusal.Head.Access) {
			return restricted()
		}
		return errMoved
	}
	if err != nil {
		return err
	}
	t.done.Warnings = append(t.done.Warnings, written.Warnings...)
	if written.ID == "" {
		return memd.Errorf(memd.CodeInvalidRequest, "nothing was written: the text is memd's own")
	}
	over := note
	if t.row != nil {
		over = note.Over(t.says())
	}
	if patch, lacks := over.Patch(written.Memory); lacks {
		if written, err = j.store.Patch(ctx, written.ID, patch); err != nil {
			return lost(err)
		}
	}
	return j.wrote(ctx, t, req, written.Memory)
}

// wrote reports a row that was written, and brings the file up to date that memd keeps
// something in, or whose text the store took otherwise.
func (j *job) wrote(ctx context.Context, t *task, req memd.RememberLongTerm, m memd.Memory) error {
	note, before := t.file.note, t.says()
	m.RawContent = req.RawContent
	if m.ContentHash != contentHash(req) {
		stored, ok, err := j.row(ctx, t.id)
		if err != nil {
			return err
		}
		if !ok {
			return errMoved
		}
		m = stored
	}
	t.holds(&m)
	row := t.says()
	same := note.Over(row).Digest() == row.SyncHash
	if before != nil && before.SyncHash == row.SyncHash {
		t.done.Outcome, t.done.Did = notes.Unchanged, notes.Nothing
	}
	t.note = row
	if !same {
		t.done.Reason = "the store took the text otherwise: memd export --notes writes that"
		if j.direction.files {
			t.done.Reason = ""
			return j.writeFile(ctx, t)
		}
	}
	if same && !j.direction.files && t.file.read.SyncHash == "" {
		return nil
	}
	did := t.done.Did
	err := j.stamp(t)
	t.done.Did = did
	if err != nil && err != errMoved {
		t.done.Reason, err = "the file could not be brought up to date: "+why(err), nil
	}
	return err
}

// unnamed is why a restricted memory is left alone.
const unnamed = "restricted: name its access tags with --access"

func restricted() error {
	return memd.FieldErrorf(memd.CodeForbidden, "memory_key", "the key is that of a restricted memory whose access tags are not named").WithHint("name them with --access")
}

// reads reports whether the run compares a file, nil for none, with a row under some
// access tags: those that were named, and, where the file goes into the store, its own.
func (j *job) reads(f *file, access []string) bool {
	caller := memd.Caller{Access: j.Access}
	if j.direction.rows && f != nil && f.note != nil {
		caller.Access = slices.Concat(j.Access, f.note.Access)
	}
	return caller.Holds(access)
}

// shows reports whether the text of a task's row may be written into the folder: what a
// file states of access is what its writer says, and no right to read.
func (j *job) shows(t *task) bool {
	caller := memd.Caller{Access: j.Access}
	return t.row == nil || caller.Holds(t.row.Access)
}

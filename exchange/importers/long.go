package importers

import (
	"memd"
	"memd/exchange/notes"
)

// long compares a long row with what stands under its key, and writes it where the file
// has something new to say.
func (r *importing) long(e Entry, req memd.RememberLongTerm) (Entry, error) {
	req.VerifiedAt = earlier(req.VerifiedAt, r.o.Now)
	if req.Kind == memd.Project { // as the door does, but of the file's day
		for _, text := range []*string{&req.Summary, &req.RawContent, &req.Why, &req.HowToApply} {
			r.o.date(text, req.VerifiedAt)
		}
	}
	head, err := r.store.Head(r.ctx, req.Namespace, req.MemoryKey)
	if err != nil && memd.CodeOf(err) == memd.CodeNotFound {
		return r.fresh(e, req)
	}
	if err != nil {
		return e.refusedBy(err)
	}
	e.ID, e.Outcome = head.ID, notes.Unchanged
	if says(head, &req) {
		return e, nil
	}
	whole, err := r.store.Get(r.ctx, head.ID)
	if err != nil {
		return e, err
	}
	if keeps(whole, rowOf(&req)) {
		return e, nil
	}
	if head.Source != req.Source {
		e.Outcome, e.Code = notes.Conflict, memd.CodeVersionConflict
		e.Reason = "the key is that of a memory with another source, which holds; import into another namespace, or forget it first"
		return e, nil
	}
	moved, err := r.moved(&req)
	if err != nil {
		return e, err
	}
	if moved {
		e.Reason = "the memory was changed since it was imported, and holds"
		return e, nil
	}
	return r.write(e, req, head.Version, notes.Updated)
}

// moved reports whether an older version says what is asked for: then it is the memory
// that has changed since, and not the file.
func (r *importing) moved(req *memd.RememberLongTerm) (bool, error) {
	versions, err := r.store.Versions(r.ctx, req.Namespace, req.MemoryKey)
	if err != nil {
		return false, err
	}
	for _, v := range versions {
		if says(v, req) {
			return true, nil
		}
		whole, err := r.store.Get(r.ctx, v.ID)
		if memd.CodeOf(err) == memd.CodeNotFound && err != nil {
			continue // pruned meanwhile
		}
		if err != nil {
			return false, err
		}
		if keeps(whole, rowOf(req)) {
			return true, nil
		}
	}
	return false, nil
}

// fresh writes the first version of a key, but none that was in force once.
func (r *importing) fresh(e Entry, req memd.RememberLongTerm) (Entry, error) {
	gone, err := r.goneFrom(req.Namespace)
	if err != nil {
		return e.refusedBy(err)
	}
	if fate := gone[req.MemoryKey]; fate != "" {
		e.Outcome, e.Reason = notes.Unchanged, "the memory is "+string(fate)+", and stays so"
		return e, nil
	}
	return r.write(e, req, 0, notes.Created)
}

// goneFrom are the keys of a namespace whose memories are no longer in force.
func (r *importing) goneFrom(namespace string) (map[string]memd.Fate, error) {
	if gone, known := r.gone[namespace]; known {
		return gone, nil
	}
	gone, err := r.store.Gone(r.ctx, namespace)
	if err == nil {
		r.gone[namespace] = gone
	}
	return gone, err
}

func (r *importing) write(e Entry, req memd.RememberLongTerm, base int, outcome notes.Outcome) (Entry, error) {
	e.Outcome = outcome
	if r.o.DryRun {
		return e, nil
	}
	req.BaseVersion = &base
	w, err := r.store.RememberLongTerm(r.ctx, req)
	if err != nil {
		return e.refusedBy(err)
	}
	e.ID, e.Warnings = w.ID, w.Warnings
	switch {
	case w.ID == "": // nothing was written, and the warnings say why
		return e.refuse(memd.CodeInvalidRequest, "memd does not store what it said itself"), nil
	case w.Unchanged:
		e.Outcome = notes.Unchanged
	}
	return e, nil
}

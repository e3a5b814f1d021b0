package importers

import (
	"memd"
	"memd/exchange/notes"
)

// sent is a short row on its way.
type sent struct {
	entry Entry
	row   *memd.Memory
}

// short sends a short row with the next ones.
func (r *importing) short(it Item) error {
	m := *it.Short
	e := Entry{File: it.File, Line: it.Line, Namespace: m.Namespace, ID: m.ID}
	if r.again("", m.ID) { // it stands twice in the file
		e.Outcome = notes.Unchanged
		r.report.add(e, memd.Short)
		return nil
	}
	if !m.WrittenAt.IsZero() {
		r.o.date(&m.Summary, m.WrittenAt)
		r.o.date(&m.RawContent, m.WrittenAt)
	}
	if m.CreatedAt.IsZero() { // it is of today as far as anybody knows
		m.CreatedAt = r.o.Now
	}
	m.CreatedAt = earlier(m.CreatedAt, r.o.Now)
	if m.UpdatedAt = earlier(m.UpdatedAt, r.o.Now); m.UpdatedAt.Before(m.CreatedAt.Time) {
		m.UpdatedAt = m.CreatedAt
	}
	m.WrittenAt = m.UpdatedAt
	r.n++
	r.waiting[r.n] = &sent{e, &m}
	return r.rows.AddRecord(r.ctx, r.n, memd.RecordOf(&m))
}

// answered takes what became of a short row. What has gone on since it was imported is
// another row beside it; one that was forgotten does not come so far.
func (r *importing) answered(n int, _ []byte, out memd.Imported) error {
	w := r.waiting[n]
	if out.Outcome != memd.Conflict || out.Field != "content" {
		return r.settled(n, nil, out)
	}
	standing, err := r.store.Get(r.ctx, w.row.ID)
	if err == nil && keeps(standing, *w.row) {
		return r.settled(n, nil, memd.Imported{Outcome: memd.Unchanged, ID: w.row.ID})
	}
	if err != nil && memd.CodeOf(err) != memd.CodeNotFound {
		return err
	}
	w.entry.ID = after(w.row.ID, w.row.RawContent)
	w.row.ID = w.entry.ID
	return r.grown.AddRecord(r.ctx, n, memd.RecordOf(w.row))
}

// settled reports what became of a short row.
func (r *importing) settled(n int, _ []byte, out memd.Imported) error {
	e := r.waiting[n].entry.answeredBy(out)
	delete(r.waiting, n)
	r.report.add(e, memd.Short)
	return nil
}

// flush sends what is left.
func (r *importing) flush() error {
	if err := r.rows.Flush(r.ctx); err != nil {
		return err
	}
	return r.grown.Flush(r.ctx)
}

package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memd"
)

// stage is one kind of thing that goes from historical databases under byte
// pressure, the least valuable first.
type stage struct {
	tier    memd.Tier
	vectors bool   // not the rows
	rows    string // condition of the rows that may go
	old     bool   // only superseded versions
}

// pressed are the stages in the contract's order (section 4, store_bytes). An
// archived row that carries a key is owed, superseded or not, and so is a long
// row of which no newer version stands.
var pressed = [...]stage{
	{tier: memd.Long, rows: `TRUE`, old: true},
	{tier: memd.Archive, rows: `{t}.memory_key IS NULL`},
	{tier: memd.Archive, rows: `TRUE`, vectors: true},
	{tier: memd.Short, rows: `TRUE`, vectors: true},
	{tier: memd.Short, rows: `TRUE`},
	{tier: memd.Long, rows: `TRUE`, vectors: true},
}

// Of one turn of the writer under byte pressure, so that others wait for it
// no longer than some tens of milliseconds.
const (
	pressedRows  = 200
	pressedBytes = 1 << 20 // by estimate, unless one row has more
)

// What a row takes beside its text and terms, and a byte of those with its
// index, and what a vector takes beside itself, roughly.
const (
	rowOverhead    = 400
	indexPerText   = 2
	vectorOverhead = 64
)

// pressAll deletes from historical databases, stage by stage, until they are
// within their budget, or but for spared bytes.
func (s *Set) pressAll(ctx context.Context, spared int64, room *Room) error {
	over, err := s.overBytes(ctx)
	if over -= spared; err != nil || over <= 0 {
		return err
	}
	// What was deleted already goes before anything more does.
	files, err := s.historyFiles(ctx)
	if err == nil {
		err = s.settleSome(ctx, files)
	}
	for _, st := range pressed {
		for err == nil {
			over, err = s.overBytes(ctx)
			if over -= spared; err != nil || over <= 0 {
				return err
			}
			var n int
			if n, err = s.press(ctx, st, over, room); n == 0 {
				break
			}
		}
	}
	return err
}

// press deletes of one stage about as many rows, or vectors, as make need
// bytes, and gives the space back. It returns how many.
func (s *Set) press(ctx context.Context, st stage, need int64, room *Room) (deleted int, err error) {
	var plan []victim
	err = s.View(ctx, func(v *View) (err error) {
		plan, err = v.victims(st, "", need, s.Now())
		return err
	})
	var files []string
	if err == nil {
		deleted, files, err = s.dropAll(ctx, st, plan)
	}
	if st.vectors {
		room.Vectors += deleted
	} else {
		room.Rows += deleted
	}
	if err != nil {
		return deleted, err
	}
	if err := s.settleSome(ctx, files); err != nil {
		return deleted, err
	}
	return deleted, s.densify(ctx, files)
}

// dropAll deletes the rows of a plan, or their vectors. It returns how many, and
// the files that they stood in.
func (s *Set) dropAll(ctx context.Context, st stage, plan []victim) (deleted int, files []string, err error) {
	// Whatever order they were chosen in, each turn changes one file, or two.
	slices.SortStableFunc(plan, func(a, b victim) int { return strings.Compare(a.file, b.file) })
	for len(plan) > 0 && err == nil {
		turn := plan[:turnOf(plan)]
		plan = plan[len(turn):]
		gone := 0
		err = s.Update(ctx, func(tx *Tx) error {
			gone = 0
			for _, v := range turn {
				did, err := tx.drop(st, v)
				if err != nil {
					return err
				}
				if did {
					gone++
				}
			}
			return nil
		})
		if err == nil {
			deleted += gone
			files = append(files, turn[0].file, turn[len(turn)-1].file)
		}
	}
	return deleted, files, err
}

// denseBytes is the most of a historical database that is rewritten in one turn
// of the writer, which takes some 10 ms for each MiB.
const denseBytes = 12 << 20

// densify rewrites historical databases in place where there is reason to think
// that many of their pages are half empty, as rows that were deleted here and
// there leave them: else more would go than has to. Where the disk has no room
// for that they stay as they are.
func (s *Set) densify(ctx context.Context, files []string) error {
	for _, file := range slices.Compact(slices.Sorted(slices.Values(files))) {
		err := s.writer.alone(ctx, func() error {
			if err := s.writer.ready(ctx); err != nil {
				return err
			}
			p := s.writer.part(file)
			if p == nil {
				return nil
			}
			c, err := p.own(ctx)
			if err != nil {
				return err
			}
			bytes, err := fileBytes(ctx, c)
			if err != nil || bytes > denseBytes || s.room(s.dir, 2*bytes+1<<20) != nil {
				return p.failed(err)
			}
			return s.writer.rewriteInPlace(context.WithoutCancel(ctx), p, c)
		})
		if err != nil && memd.CodeOf(err) != memd.CodeStoreBusy {
			return err
		}
	}
	return ctx.Err()
}

// rewriteInPlace leaves no page of a historical database half empty.
func (w *writer) rewriteInPlace(ctx context.Context, p *part, c *conn) error {
	w.set.views.Lock()
	_, err := c.exec(ctx, `VACUUM`)
	p.gen.Add(1)
	w.set.views.Unlock()
	if err != nil {
		return fail("rewrite "+p.file, p.failed(err))
	}
	return w.plainly(ctx, func() error { return recount(ctx, w.conn, p, c) })
}

// turnOf is how many of a plan, at least one, go in one turn of the writer:
// of two files at most.
func turnOf(plan []victim) int {
	var sum int64
	files := 1
	for i, v := range plan {
		if i > 0 && v.file != plan[i-1].file {
			files++
		}
		if sum += v.bytes; i > 0 && (sum > pressedBytes || i == pressedRows || files > 2) {
			return i
		}
	}
	return len(plan)
}

// victim is a row that may go, or its vector.
type victim struct {
	version
	file    string
	updated string
	bytes   int64 // what it takes, roughly
	value   float64
}

// victims are the rows of a stage that are least valuable now, as many as make
// need bytes: of one historical database, or of all ("").
func (v *View) victims(st stage, file string, need int64, now memd.Time) ([]victim, error) {
	bytes, from := rowBytes, `{t}`
	if st.vectors {
		bytes, from = `octet_length(e.vec)`, `embedding e CROSS JOIN {t} ON {t}.id = e.memory_id`
	}
	query := on(st.tier, `SELECT {t}.id, {t}.updated_at, `+bytes+`, `+valueNow+`, {t}.memory_key, {t}.namespace, {t}.version
 FROM `+from+` WHERE `+st.rows)
	var all []victim
	err := v.each(func(i int, c *conn) error {
		if i == 0 || file != "" && v.parts[i].file != file {
			return nil
		}
		rows, err := c.query(v.ctx, query, now.String())
		if err != nil {
			return fail("find the least valuable rows", err)
		}
		defer rows.Close()
		for rows.Next() {
			x, m := victim{file: v.parts[i].file}, memd.Memory{Tier: st.tier}
			if err := rows.Scan(&x.id, &x.updated, &x.bytes, &x.value, nullText{&m.MemoryKey}, &m.Namespace, number{&m.Version}); err != nil {
				return fail("find the least valuable rows", err)
			}
			if st.vectors {
				x.bytes += vectorOverhead
			} else {
				x.bytes = x.bytes*indexPerText + rowOverhead
			}
			m.ID, x.headKey, x.number = x.id, headKey{m.Namespace, m.MemoryKey}, m.Version
			ok, err := v.mayGo(i, st, &m)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, x)
			}
		}
		return fail("find the least valuable rows", rows.Err())
	})
	slices.SortFunc(all, func(a, b victim) int { return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.id, b.id)) })
	for i := range all {
		if need -= all[i].bytes; need <= 0 {
			return all[:i+1], err
		}
	}
	return all, err
}

// rowBytes are those of a row's text and terms.
const rowBytes = `octet_length({t}.summary) + coalesce(octet_length({t}.why), 0) + coalesce(octet_length({t}.how_to_apply), 0)
 + coalesce(octet_length({t}.raw_content), 0) + octet_length({t}.seg)`

// mayGo reports whether a row of a stage stands where it was found and is not
// owed.
func (v *View) mayGo(i int, st stage, m *memd.Memory) (bool, error) {
	ok, err := v.stands(i, m.ID)
	if !ok || err != nil || !st.old {
		return ok, err
	}
	return v.succeeded(m)
}

// drop deletes a row or its vector where it stands, unless it was written since
// it was chosen.
func (tx *Tx) drop(st stage, v victim) (bool, error) {
	p := tx.w.part(v.file)
	if p == nil {
		return false, nil
	}
	c, err := p.own(tx.ctx)
	if err != nil {
		return false, err
	}
	var same bool
	err = c.row(tx.ctx, on(st.tier, `SELECT EXISTS (SELECT 1 FROM {t} WHERE id = ? AND updated_at = ?)`), []any{v.id, v.updated}, &same)
	if err == nil && same {
		same, err = tx.found(p, v.id)
	}
	if !same || err != nil {
		return false, fail("look for a row", p.failed(err))
	}
	if st.old {
		if last, err := tx.w.lastWord(tx.ctx, v.version); last || err != nil {
			return false, err
		}
	}
	if st.vectors {
		return tx.dropVector(v.id)
	}
	return tx.Delete(st.tier, v.id)
}

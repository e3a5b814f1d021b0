package store

import (
	"context"
	"slices"

	"memd"
)

// Room is what was done to keep historical databases and vectors within their
// budgets.
type Room struct {
	Retired []string // historical databases that are gone, below the data directory, oldest first
	Rows    int      // rows deleted
	Vectors int      // vectors deleted
}

// MakeRoom brings historical databases and vectors down to their budgets, in
// the order of docs/operations.md: of too many files the oldest go; of too many
// bytes first superseded versions, then the least valuable archived rows,
// vectors of archived and short rows, short rows, vectors of long rows, and
// then the oldest files. What is owed always stays, and where that alone is
// more than the budget, new rows are refused from then on.
func (s *Set) MakeRoom(ctx context.Context) (Room, error) {
	s.making.Lock()
	defer s.making.Unlock()
	room := Room{Retired: []string{}}
	if err := s.retireSurplus(ctx, &room); err != nil {
		return room, err
	}
	if err := s.dropSurplusVectors(ctx, &room); err != nil {
		return room, err
	}
	for _, stage := range pressed {
		over, err := s.overBytes(ctx)
		for err == nil && over > 0 {
			var n int
			if n, err = s.press(ctx, stage, over, &room); n == 0 {
				break
			}
			if err == nil {
				over, err = s.overBytes(ctx)
			}
		}
		if err != nil {
			return room, err
		}
	}
	for {
		over, err := s.overBytes(ctx)
		if err != nil || over <= 0 {
			s.full.Store(false)
			return room, err
		}
		retired, err := s.retireOldest(ctx, &room)
		if err != nil {
			return room, err
		}
		if !retired {
			s.full.Store(true)
			s.log.Warn("what is owed in historical databases exceeds budgets.store_bytes", "bytes_over", over)
			return room, nil
		}
	}
}

// Due reports whether MakeRoom would find something to do, and how many
// historical databases are beyond their budget.
func (s *Set) Due(ctx context.Context) (files int, err error) {
	err = s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT max(0, count(*) - ?) FROM history`, []any{s.budgets.HistoryFiles}, &files)
	})
	return files, fail("read the catalogue", err)
}

// overBytes is by how much historical databases exceed their budget.
func (s *Set) overBytes(ctx context.Context) (over int64, err error) {
	err = s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT coalesce(sum(bytes), 0) - ? FROM history`, []any{s.budgets.StoreBytes}, &over)
	})
	return over, fail("read the catalogue", err)
}

// stage is one kind of thing that goes from historical databases under byte
// pressure, the oldest file first.
type stage struct {
	tier    memd.Tier
	vectors bool
	rows    string // condition of the rows that may go
	old     bool   // only superseded versions
}

// pressed are the stages in the contract's order (section 4, store_bytes). An
// archived row that carries a key is owed, superseded or not.
var pressed = []stage{
	{tier: memd.Long, rows: `TRUE`, old: true},
	{tier: memd.Archive, rows: `{t}.memory_key IS NULL`},
	{tier: memd.Archive, rows: `TRUE`, vectors: true},
	{tier: memd.Short, rows: `TRUE`, vectors: true},
	{tier: memd.Short, rows: `TRUE`},
	{tier: memd.Long, rows: `TRUE`, vectors: true},
}

// Of one step under byte pressure.
const (
	pressedRows  = 400 // rows of one transaction
	rowOverhead  = 400 // bytes of a row and its index beside its text, roughly
	indexPerText = 2   // bytes that a byte of text takes with its index, roughly
)

// press deletes of one stage about as many rows, or vectors, as make need
// bytes, the least valuable first, and gives the space back. It returns how
// many.
func (s *Set) press(ctx context.Context, st stage, need int64, room *Room) (deleted int, err error) {
	var files []string
	err = s.Update(ctx, func(tx *Tx) error {
		deleted, files = 0, nil
		victims, err := tx.victims(st, need)
		if err != nil {
			return err
		}
		for _, v := range victims {
			if err := tx.drop(st, v); err != nil {
				return err
			}
			if !slices.Contains(files, v.part.file) {
				files = append(files, v.part.file)
			}
		}
		deleted = len(victims)
		return nil
	})
	if st.vectors {
		room.Vectors += deleted
	} else {
		room.Rows += deleted
	}
	for _, file := range files {
		if err != nil {
			return deleted, err
		}
		err = s.writer.alone(ctx, func() error {
			if err := s.writer.ready(ctx); err != nil {
				return err
			}
			_, err := s.writer.settleHistory(context.WithoutCancel(ctx), file)
			return err
		})
	}
	return deleted, err
}

// victim is a row that may go.
type victim struct {
	part  *part
	id    string
	bytes int64
	value float64
}

// victims are the least valuable rows of a stage, as many as make need bytes,
// or one transaction.
func (tx *Tx) victims(st stage, need int64) ([]victim, error) {
	size := `{t}.id, ` + valueNow + ` AS value, {t}.memory_key, {t}.namespace, {t}.version, octet_length({t}.summary)
 + coalesce(octet_length({t}.why), 0) + coalesce(octet_length({t}.how_to_apply), 0) + coalesce(octet_length({t}.raw_content), 0)`
	from := `{t} WHERE ` + st.rows
	if st.vectors {
		from = `embedding e JOIN {t} ON {t}.id = e.memory_id WHERE ` + st.rows
	}
	limit := 4 * pressedRows
	if st.old { // which row is a successor's, the file cannot tell
		limit = noLimit
	}
	query := on(st.tier, `SELECT `+size+` FROM `+from+` ORDER BY value, {t}.id LIMIT ?2`)
	var all []victim
	err := tx.eachOld(func(p *part, c *conn) error {
		var here []memd.Memory
		var found []victim
		rows, err := c.query(tx.ctx, query, tx.w.set.Now().String(), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			v, m := victim{part: p}, memd.Memory{Tier: st.tier}
			if err := rows.Scan(&v.id, &v.value, nullText{&m.MemoryKey}, &m.Namespace, number{&m.Version}, &v.bytes); err != nil {
				return err
			}
			m.ID = v.id
			here, found = append(here, m), append(found, v)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		kept := 0
		for i, v := range found {
			if kept == pressedRows {
				break
			}
			ok, err := tx.mayGo(p, st, &here[i])
			if err != nil {
				return err
			}
			if ok {
				all = append(all, v)
				kept++
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b victim) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	for i := range all {
		if need -= all[i].bytes*indexPerText + rowOverhead; need <= 0 || i == pressedRows-1 {
			return all[:i+1], err
		}
	}
	return all, err
}

// mayGo reports whether a row of a stage stands where it was found and is not
// owed.
func (tx *Tx) mayGo(p *part, st stage, m *memd.Memory) (bool, error) {
	ok, err := tx.found(p, m.ID)
	if !ok || err != nil || !st.old {
		return ok, err
	}
	h, known, err := tx.Head(m.Namespace, m.MemoryKey)
	// Without a head nothing tells that the row has a successor.
	return known && m.Version < h.Version, err
}

// drop deletes a row or its vector where it stands.
func (tx *Tx) drop(st stage, v victim) error {
	if !st.vectors {
		_, err := tx.Delete(st.tier, v.id)
		return err
	}
	c, err := tx.home(v.id)
	if err == nil {
		_, err = c.exec(tx.ctx, `DELETE FROM embedding WHERE memory_id = ?`, v.id)
	}
	if err == nil {
		err = markDue(tx.ctx, c)
	}
	return fail("delete a vector", err)
}

// dropSurplusVectors deletes vectors beyond their budgets: first of archived
// rows, then of short, then of long ones, the least valuable first.
func (s *Set) dropSurplusVectors(ctx context.Context, room *Room) error {
	var over int64
	err := s.View(ctx, func(v *View) (err error) {
		over, err = s.surplusVectors(ctx, v.active())
		return err
	})
	if over == 0 {
		return err
	}
	for _, t := range []memd.Tier{memd.Archive, memd.Short, memd.Long} {
		for {
			deleted := 0
			err := s.Update(ctx, func(tx *Tx) (err error) {
				deleted, err = tx.dropVectors(t)
				return err
			})
			if err != nil {
				return err
			}
			if deleted == 0 {
				break
			}
			room.Vectors += deleted
		}
	}
	return nil
}

// countVectors are the vectors of all databases, and their bytes.
const countVectors = `SELECT
 (SELECT count(*) FROM embedding) + (SELECT coalesce(sum(vectors), 0) FROM history WHERE state <> 'copying'),
 (SELECT coalesce(sum(length(vec)), 0) FROM embedding) + (SELECT coalesce(sum(vector_bytes), 0) FROM history WHERE state <> 'copying')`

// surplusVectors is how many vectors are beyond the budgets.
func (s *Set) surplusVectors(ctx context.Context, c *conn) (int64, error) {
	var rows, bytes int64
	if err := c.row(ctx, countVectors, nil, &rows, &bytes); err != nil {
		return 0, fail("count vectors", err)
	}
	over := rows - int64(s.budgets.EmbeddingRows)
	if bytes > s.budgets.EmbeddingBytes && rows > 0 {
		each := max(1, bytes/rows)
		over = max(over, (bytes-s.budgets.EmbeddingBytes+each-1)/each)
	}
	return max(0, over), nil
}

// dropVectors deletes at most one transaction's worth of the vectors of a tier
// that are beyond the budgets.
func (tx *Tx) dropVectors(t memd.Tier) (int, error) {
	over, err := tx.w.set.surplusVectors(tx.ctx, tx.conn)
	if err != nil || over == 0 {
		return 0, err
	}
	ids, err := tx.leastVectors(t, int(min(over, pressedRows)))
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		c, err := tx.home(id)
		if err == nil {
			_, err = c.exec(tx.ctx, `DELETE FROM embedding WHERE memory_id = ?`, id)
		}
		if err != nil {
			return 0, fail("delete a vector", err)
		}
	}
	return len(ids), nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"memd"
	"memd/store/segment"
)

// movedKept is how many entries the table moved keeps (see migration 4).
const movedKept = `4096`

// extent is how far the rows of one database go in one View: what an index has
// to cover. Rows only come after it or are told of in moved, so that two Views
// of one extent hold the same indexed rows.
type extent struct {
	seq  int64               // of the last entry of moved, 0 for none
	last [len(indexed)]int64 // highest rid of each indexed tier

	rows  int   // of the indexed tiers
	chars int64 // code points of their summaries
}

// noRow is below every rid.
const noRow = math.MinInt64

// has reports whether there is any row of tier t.
func (e *extent) has(t memd.Tier) bool { return e.last[slices.Index(indexed[:], t)] != noRow }

// extent reads how far a database goes, once in a View.
func (v *View) extent(i int, c *conn) (e *extent, err error) {
	if v.extents[i] == nil {
		v.extents[i], err = readExtent(v.ctx, c, v.parts[i])
	}
	return v.extents[i], err
}

func readExtent(ctx context.Context, c *conn, p *part) (*extent, error) {
	e := &extent{}
	var last [len(indexed)]sql.NullInt64
	seq := `(SELECT max(seq) FROM moved)`
	if p.unready.Load() { // its schema may be older
		seq = `0`
	}
	// Without NOT INDEXED the greatest rid is looked for through a whole index.
	err := c.row(ctx, `SELECT coalesce(`+seq+`, 0),
 (SELECT max(rid) FROM long NOT INDEXED), (SELECT max(rid) FROM short NOT INDEXED), (SELECT max(rid) FROM archive NOT INDEXED),
 coalesce(sum(rows), 0), coalesce(sum(chars), 0) FROM tally WHERE tier <> 'transient'`,
		nil, &e.seq, &last[0], &last[1], &last[2], &e.rows, &e.chars)
	if err != nil {
		return nil, fail("look for rows", err)
	}
	for n, rid := range last {
		if e.last[n] = noRow; rid.Valid {
			e.last[n] = rid.Int64
		}
	}
	return e, nil
}

// index is the keyword index of one database in memory: what SQLite's own says,
// with counts, for a fraction of the time. It is made of the rows and follows
// them; where it does not cover what a View reads, SQLite's is asked.
type index struct {
	mu    sync.RWMutex
	seq   int64 // of the last entry of moved that it heeds
	tiers [len(indexed)]tierIndex
	lost  bool // whether it can no longer follow: moved does not reach back so far
}

// tierIndex is that of one tier.
type tierIndex struct {
	last   int64   // highest rid that it has looked at
	layers []layer // a frozen one, unless the database grows, and one that takes rows
}

// layer is a part of an index, and which of its rows count no more.
type layer struct {
	segment.Index
	gone  []uint64 // bits by row
	moved int      // bits that are set
}

// newIndex is an index that has looked at no row yet of what has the extent e.
func newIndex(e *extent) *index {
	x := &index{seq: e.seq}
	for n := range x.tiers {
		x.tiers[n] = tierIndex{last: noRow, layers: []layer{{Index: segment.NewGrowing()}}}
	}
	return x
}

// freeze makes the index small. Rows that come later go into a layer of their
// own.
func (x *index) freeze() {
	for n := range x.tiers {
		t := &x.tiers[n]
		first := &t.layers[0]
		first.Index = first.Index.(*segment.Growing).Freeze()
		t.layers = append(t.layers, layer{Index: segment.NewGrowing()})
	}
}

// covers reports whether the index says all of the rows of e, and nothing else
// of them. It may know of rows that came later.
func (x *index) covers(e *extent) bool {
	if x.lost || x.seq != e.seq {
		return false
	}
	for n := range x.tiers {
		if x.tiers[n].last < e.last[n] {
			return false
		}
	}
	return true
}

// behind is about how many rows the index has yet to look at to cover e; where
// it is ahead of e, or lost, more than anybody waits for.
func (x *index) behind(e *extent) int64 {
	if x.lost || x.seq > e.seq {
		return math.MaxInt64
	}
	n := e.seq - x.seq
	for i := range x.tiers {
		if from, to := x.tiers[i].last, e.last[i]; to > from {
			n += to - max(from, 0) // the first rid is 1
		}
	}
	return n
}

// catchUp is advance for the few rows that a View waits for.
func (x *index) catchUp(ctx context.Context, c *conn, e *extent) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lost || x.seq > e.seq {
		return nil
	}
	return x.advance(ctx, c, e, maxCatchUp)
}

// advance looks at what moved since, and at no more than limit of the new rows
// of each tier, or stepChars of their text, with a connection whose reading has
// the extent e.
func (x *index) advance(ctx context.Context, c *conn, e *extent, limit int) error {
	if err := x.follow(ctx, c, e); err != nil || x.lost {
		return err
	}
	for n, t := range indexed {
		ti := &x.tiers[n]
		if ti.last >= e.last[n] {
			continue
		}
		chars := 0
		err := c.each(ctx, on(t, selectIndexed+` WHERE {t}.rid > ?1 AND {t}.rid <= ?2 ORDER BY {t}.rid LIMIT ?3`),
			[]any{ti.last, e.last[n], limit}, func(rows *sql.Rows) error {
				m, rid, err := ti.add(rows, t)
				if err != nil { // a request that ends closes rows that stand ready
					return err
				}
				ti.last = rid
				if chars += len(m.Summary) + len(m.Why) + len(m.HowToApply); chars > stepChars {
					return errEnough
				}
				return nil
			})
		if err != nil && !errors.Is(err, errEnough) {
			return fail("read rows for the index", err)
		}
	}
	return nil
}

// stepChars is how much text is looked at in one step, in bytes.
const stepChars = 1 << 20

var errEnough = errors.New("enough for a step")

// follow takes out the rows that moved tells of, and looks at them anew.
func (x *index) follow(ctx context.Context, c *conn, e *extent) error {
	told := int64(0)
	var again [len(indexed)][]int64
	err := c.each(ctx, `SELECT tier, rid FROM moved WHERE seq > ?`, []any{x.seq}, func(rows *sql.Rows) error {
		var tier memd.Tier
		var rid int64
		if err := rows.Scan((*string)(&tier), &rid); err != nil {
			return err
		}
		told++
		if n := slices.Index(indexed[:], tier); n >= 0 {
			again[n] = append(again[n], rid)
		}
		return nil
	})
	if err != nil {
		return fail("read what moved", err)
	}
	if x.lost = told != e.seq-x.seq; x.lost {
		return nil
	}
	x.seq = e.seq
	ctx = context.WithoutCancel(ctx) // what is dropped must come back, and is no more than moved holds
	for n, t := range indexed {
		if len(again[n]) == 0 {
			continue
		}
		ti := &x.tiers[n]
		ti.drop(again[n])
		err := c.each(ctx, on(t, selectIndexed+` WHERE {t}.rid <= ? AND {t}.rid IN (SELECT value FROM json_each(?))`),
			[]any{ti.last, jsonRIDs(again[n])}, func(rows *sql.Rows) error {
				_, _, err := ti.add(rows, t)
				return err
			})
		if err != nil {
			x.lost = true // what was dropped is not back
			return fail("read moved rows for the index", err)
		}
	}
	return nil
}

const selectIndexed = `SELECT {t}.rid, {t}.id, {t}.namespace, {t}.summary, {t}.why, {t}.how_to_apply,
 {t}.memory_key, {t}.tags, {t}.kind, {t}.source, {t}.owner, {t}.session_id FROM {t}`

// add puts the row that rows stands at into the layer that takes rows.
func (x *tierIndex) add(rows *sql.Rows, t memd.Tier) (m memd.Memory, rid int64, err error) {
	rid, m, err = scanIndexed(rows, t)
	if err != nil {
		return m, rid, err
	}
	chars := utf8.RuneCountInString(m.Summary)
	x.layers[len(x.layers)-1].Index.(*segment.Growing).Add(segment.Row{RID: rid, Namespace: m.Namespace, Chars: chars,
		Unspaced: Unspaced(m.Summary, chars), Grouped: m.SessionID != ""}, []string{m.Summary, m.Why, m.HowToApply}, Labels(&m))
	return m, rid, nil
}

// scanIndexed reads a row of selectIndexed.
func scanIndexed(rows *sql.Rows, t memd.Tier) (rid int64, m memd.Memory, err error) {
	m.Tier = t
	err = rows.Scan(&rid, &m.ID, &m.Namespace, &m.Summary, nullText{&m.Why}, nullText{&m.HowToApply},
		nullText{&m.MemoryKey}, list{&m.Tags}, (*string)(&m.Kind), nullText{&m.Source}, nullText{&m.Owner}, nullText{&m.SessionID})
	return rid, m, err
}

// drop has the rows of some rids count no more. Where the last one is among
// them, a new row may get its rid, or a lower one: those are looked for beyond
// what is left.
func (x *tierIndex) drop(rids []int64) {
	for n := range x.layers {
		l := &x.layers[n]
		for _, rid := range rids {
			if row, ok := l.Rows().Find(rid); ok {
				l.drop(row)
			}
		}
	}
	if !slices.Contains(rids, x.last) {
		return
	}
	x.last = noRow
	for n := range x.layers {
		l := &x.layers[n]
		for row := range l.Rows().Len() {
			if !l.isGone(row) {
				x.last = max(x.last, l.Rows().RID(row))
			}
		}
	}
}

func (l *layer) drop(row int) {
	if l.isGone(row) {
		return
	}
	for len(l.gone) <= row/64 {
		l.gone = append(l.gone, 0)
	}
	l.gone[row/64] |= 1 << (row % 64)
	l.moved++
}

func (l *layer) isGone(row int) bool {
	return row/64 < len(l.gone) && l.gone[row/64]&(1<<(row%64)) != 0
}

// Labels is the text of a row's labels, as the keyword index has them.
func Labels(m *memd.Memory) string {
	return strings.Join([]string{m.MemoryKey, strings.Join(m.Tags, " "), string(m.Kind), m.Source, m.Owner}, " ")
}

// Unspaced reports whether a text of so many code points is mostly of a script
// without spaces.
func Unspaced(text string, chars int) bool { return len(text) > 2*chars }

// filled are the indexed tiers of which a database has any row.
func (v *View) filled(i int, c *conn) ([]memd.Tier, error) {
	e, err := v.extent(i, c)
	if err != nil {
		return nil, err
	}
	var filled []memd.Tier
	for _, t := range indexed {
		if e.has(t) {
			filled = append(filled, t)
		}
	}
	return filled, nil
}

package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
	"memd/embedding"
)

// Vector is one to compare rows with, in the form in which they are stored. Only
// vectors of its model and length are compared.
type Vector struct {
	Model string `json:"m"`
	Int8  []byte `json:"v"` // embedding.Int8
}

// bits are the signs of its numbers.
func (q Vector) bits() []byte {
	numbers := make([]float32, len(q.Int8))
	for i, b := range q.Int8 {
		numbers[i] = float32(int8(b))
	}
	return embedding.Bits(numbers)
}

// Near is a row with the cosine of its vector.
type Near struct {
	memd.Memory
	Cosine float64
}

// VectorsAvailable reports whether vectors can be searched at all.
func (v *View) VectorsAvailable() bool { return v.vectors }

var errNoVectors = &memd.Error{Code: memd.CodeStoreFailed, Message: "sqlite-vec is not available",
	Hint: "keyword and metadata recall answer without it"}

// comparable are the conditions under which sqlite-vec can compare a vector: it
// aborts the whole statement over one that is null, empty or of another length.
// Parameters 7 to 9 are the model, the int8 form and the bits of the one asked
// for.
const comparable = `e.model = ?7 AND e.dim = length(?8) AND length(e.vec) = length(?8) AND length(e.bits) = length(?9)`

const (
	hamming = `vec_distance_hamming(vec_bit(e.bits), vec_bit(?9))`
	cosine  = `1 - vec_distance_cosine(vec_int8(e.vec), vec_int8(?8))`
)

func (q Vector) args(scope Scope, filter Filter) []any {
	return append(append(scope.args(), filter.args()...), q.Model, q.Int8, q.bits())
}

// far is a row with the distance of its bits.
type far struct {
	part, distance int
	id             string
}

// nearer orders rows by distance, over all databases: neither the database nor
// the place in it decides which of equally distant ones is cut off.
func nearer(a, b far) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.id, b.id))
}

// sharp is a row with its cosine.
type sharp struct {
	far
	cosine float64
}

// sharper orders rows by cosine, the greatest first.
func sharper(a, b sharp) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), strings.Compare(a.id, b.id))
}

// survivors is how many rows a pass over bits leaves for each that is wanted.
const survivors = 16

// Nearest returns at most n rows of tier t that are visible in scope and pass
// the filter, without raw_content: of those whose bits differ least from q's,
// over all databases, the ones of the greatest cosine, that first.
func (v *View) Nearest(t memd.Tier, q Vector, scope Scope, filter Filter, n int) ([]Near, error) {
	if !v.vectors {
		return nil, errNoVectors
	}
	found, whole, err := v.glance(t, q, scope, filter, survivors*n)
	if err == nil && !whole {
		var visible []far
		if visible, err = v.nearVisible(t, q, scope, filter, survivors*n); err == nil {
			found, err = v.sharpen(visible, q)
		}
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, sharper)
	return v.compared(t, q, scope, filter, found[:min(n, len(found))])
}

// glance ranks all vectors by their bits in memory, whoever may see them, and
// looks at the rows of the first. It does where enough of these are visible, and
// where there are no more; else, or where few rows are of the tier, it is not whole.
func (v *View) glance(t memd.Tier, q Vector, scope Scope, filter Filter, n int) (found []sharp, whole bool, err error) {
	limit, worth, err := v.reach(t, n)
	if !worth || err != nil {
		return nil, false, err
	}
	all, more, err := v.proposed(q, limit)
	if err != nil {
		return nil, false, err
	}
	for left := all; len(left) > 0 && len(found) < n; {
		batch := left[:min(len(left), n)]
		left = left[len(batch):]
		seen, err := v.visibleAmong(t, batch, q, scope, filter)
		if err != nil {
			return nil, false, err
		}
		for _, f := range batch {
			if cosine, ok := seen[f]; ok && len(found) < n {
				found = append(found, sharp{f, cosine})
			}
		}
	}
	whole = len(found) >= n || !more
	if !whole {
		err = v.weed(all, q)
	}
	return found, whole, err
}

// reach is how many of all vectors to look at for n rows of tier t, and whether
// that costs less than a look at all rows of the tier. The answer changes what a
// search costs, never what it finds.
func (v *View) reach(t memd.Tier, n int) (limit int, worth bool, err error) {
	var own, all int
	err = v.each(func(_ int, c *conn) error {
		var o, a int
		err := c.row(v.ctx, `SELECT coalesce(sum(iif(tier = ?, rows, 0)), 0), coalesce(sum(rows), 0) FROM tally
 WHERE tier <> 'transient'`, []any{string(t)}, &o, &a)
		own, all = own+o, all+a
		return fail("read the tally", err)
	})
	limit = n + n/4 // some are not visible
	if own > 0 {
		limit = limit * all / own
	}
	return limit, 2*own >= all || 2*limit < own, err
}

// visibleAmong returns the cosines of those rows that are visible, pass the
// filter and still have the vector that was proposed.
func (v *View) visibleAmong(t memd.Tier, found []far, q Vector, scope Scope, filter Filter) (map[far]float64, error) {
	seen := make(map[far]float64, len(found))
	err := v.eachID(found, func(i int, c *conn, ids string) error {
		query := on(t, `SELECT `+keyColumns+`, `+hamming+`, `+cosine+`
 FROM json_each(?10) w CROSS JOIN {t} ON {t}.id = w.value CROSS JOIN embedding e ON e.memory_id = {t}.id
 WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags+` AND `+comparable)
		return fail("compare vectors", c.each(v.ctx, query, append(q.args(scope, filter), ids), func(rows *sql.Rows) error {
			f := far{part: i}
			var likeness sql.NullFloat64 // null of a vector that is zero
			m, err := scanKey(rows, t, &f.distance, &likeness)
			if err != nil {
				return err
			}
			ok, err := v.current(i, &m)
			if f.id = m.ID; ok && likeness.Valid {
				seen[f] = likeness.Float64
			}
			return err
		}))
	})
	return seen, err
}

// weed has the bits of the active database read anew where many of those that
// were proposed are of vectors that are gone.
func (v *View) weed(found []far, q Vector) error {
	var own []string
	for _, f := range found {
		if f.part == 0 {
			own = append(own, f.id)
		}
	}
	var left int
	err := v.active().row(v.ctx, `SELECT count(*) FROM json_each(?1) w CROSS JOIN embedding e ON e.memory_id = w.value`,
		[]any{jsonList(own)}, &left)
	if err == nil && len(own)-left > len(own)/8 {
		v.signs.renew(v.parts[0])
	}
	return fail("compare vectors", err)
}

// keyColumns are what View.current asks of a row.
const keyColumns = `{t}.id, {t}.namespace, {t}.memory_key, {t}.version`

func scanKey(rows *sql.Rows, t memd.Tier, more ...any) (memd.Memory, error) {
	m := memd.Memory{Tier: t}
	err := rows.Scan(append([]any{&m.ID, &m.Namespace, nullText{&m.MemoryKey}, number{&m.Version}}, more...)...)
	return m, err
}

// nearVisible ranks the vectors of the visible rows alone.
func (v *View) nearVisible(t memd.Tier, q Vector, scope Scope, filter Filter, n int) ([]far, error) {
	var all []far
	err := v.each(func(i int, c *conn) error {
		if filled, err := v.filled(i, c); err != nil || !slices.Contains(filled, t) {
			return err
		}
		kept, err := v.nearIn(i, c, t, q.args(scope, filter), n)
		all = append(all, kept...)
		return err
	})
	slices.SortFunc(all, nearer)
	return all[:min(len(all), n)], err
}

// nearIn is nearVisible for one database.
func (v *View) nearIn(i int, c *conn, t memd.Tier, args []any, n int) ([]far, error) {
	query := on(t, `SELECT `+keyColumns+`, `+hamming+` AS distance
 FROM {t} CROSS JOIN embedding e ON e.memory_id = {t}.id
 WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags+` AND `+comparable+`
 ORDER BY distance, {t}.id LIMIT ?10`)
	for asked := n; ; asked *= 4 { // what is not current makes room for more, and is rare
		read := 0
		var kept []far
		err := c.each(v.ctx, query, append(args[:len(args):len(args)], asked), func(rows *sql.Rows) error {
			f := far{part: i}
			m, err := scanKey(rows, t, &f.distance)
			if err != nil {
				return err
			}
			read++
			ok, err := v.current(i, &m)
			if f.id = m.ID; ok && len(kept) < n {
				kept = append(kept, f)
			}
			return err
		})
		if err != nil || len(kept) == n || read < asked {
			return kept, fail("compare vectors", err)
		}
	}
}

// sharpen compares rows by their cosines.
func (v *View) sharpen(found []far, q Vector) ([]sharp, error) {
	all := make([]sharp, 0, len(found))
	query := `SELECT e.memory_id, ` + cosine + ` FROM json_each(?1) w CROSS JOIN embedding e ON e.memory_id = w.value WHERE ` + comparable
	err := v.eachID(found, func(i int, c *conn, ids string) error {
		args := []any{ids, nil, nil, nil, nil, nil, q.Model, q.Int8, q.bits()}
		return fail("compare vectors", c.each(v.ctx, query, args, func(rows *sql.Rows) error {
			s := sharp{far: far{part: i}}
			var likeness sql.NullFloat64
			err := rows.Scan(&s.id, &likeness)
			if s.cosine = likeness.Float64; err == nil && likeness.Valid {
				all = append(all, s)
			}
			return err
		}))
	})
	return all, err
}

// compared reads rows with their cosines.
func (v *View) compared(t memd.Tier, q Vector, scope Scope, filter Filter, found []sharp) ([]Near, error) {
	var all []Near
	places := make([]far, len(found))
	for i, s := range found {
		places[i] = s.far
	}
	err := v.eachID(places, func(i int, c *conn, ids string) error {
		query := on(t, `SELECT `+cosine+`, `+foundColumns+` FROM json_each(?10) w
 CROSS JOIN {t} ON {t}.id = w.value CROSS JOIN embedding e ON e.memory_id = {t}.id
 WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags+` AND `+comparable)
		return fail("compare vectors", c.each(v.ctx, query, append(q.args(scope, filter), ids), func(rows *sql.Rows) error {
			var likeness sql.NullFloat64 // null of a vector that is zero
			m, err := scanMemory(rows, t, false, &likeness)
			if err == nil && likeness.Valid {
				all = append(all, Near{m, likeness.Float64})
			}
			return err
		}))
	})
	slices.SortFunc(all, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.ID, b.ID))
	})
	return all, err
}

// eachID calls fn with every database that holds any of found, and their ids
// there as a JSON list.
func (v *View) eachID(found []far, fn func(i int, c *conn, ids string) error) error {
	wanted := make([][]string, len(v.parts))
	for _, f := range found {
		wanted[f.part] = append(wanted[f.part], f.id)
	}
	return v.each(func(i int, c *conn) error {
		if len(wanted[i]) == 0 {
			return nil
		}
		return fn(i, c, jsonList(wanted[i]))
	})
}

// Cosines returns those of the vectors of some rows, by id, over all databases.
// A row without a vector that can be compared has none.
func (v *View) Cosines(q Vector, ids []string) (map[string]float64, error) {
	if !v.vectors {
		return nil, errNoVectors
	}
	left := slices.Sorted(slices.Values(ids))
	found := make(map[string]float64, len(ids))
	query := `SELECT e.memory_id, ` + cosine + ` FROM json_each(?1) w CROSS JOIN embedding e ON e.memory_id = w.value WHERE ` + comparable
	err := v.each(func(i int, c *conn) error {
		var first, last string
		err := c.row(v.ctx, `SELECT (SELECT min(memory_id) FROM embedding), (SELECT max(memory_id) FROM embedding)`,
			nil, nullText{&first}, nullText{&last})
		if err != nil {
			return fail("read a range of ids", err)
		}
		from, _ := slices.BinarySearch(left, first)
		to, last1 := slices.BinarySearch(left, last)
		if last1 {
			to++
		}
		if from >= to {
			return nil
		}
		args := []any{jsonList(left[from:to]), nil, nil, nil, nil, nil, q.Model, q.Int8, q.bits()}
		return fail("compare vectors", c.each(v.ctx, query, args, func(rows *sql.Rows) error {
			var id string
			var likeness sql.NullFloat64
			if err := rows.Scan(&id, &likeness); err != nil || !likeness.Valid {
				return err
			}
			ok, err := v.stands(i, id)
			if ok {
				found[id] = likeness.Float64
			}
			return err
		}))
	})
	return found, err
}

// RemovedNear is Removed for the rows of every tier whose vectors have at least
// a cosine with q's.
func (v *View) RemovedNear(q Vector, least float64, scope Scope, filter Filter, c memd.Caller, limit int, count func(t memd.Tier, id, reason string)) error {
	near, err := v.over(q, least)
	if err != nil || len(near) == 0 {
		return err
	}
	source := `json_each(?7) f CROSS JOIN {t} ON {t}.id = f.value`
	for _, t := range indexed {
		err := v.removed(t, source, func(i int) string { return near[i] }, scope, filter, c, limit,
			func(id, reason string) { count(t, id, reason) })
		if err != nil {
			return err
		}
	}
	return nil
}

// over are the ids of the rows of every tier, whoever may see them, with at
// least a cosine, as a JSON list for each database that has any.
func (v *View) over(q Vector, least float64) (map[int]string, error) {
	if !v.vectors {
		return nil, errNoVectors
	}
	near := map[int]string{}
	query := `SELECT json_group_array(e.memory_id) FROM embedding e
 WHERE CASE WHEN ` + comparable + ` THEN ` + cosine + ` >= ?1 END`
	err := v.each(func(i int, c *conn) error {
		var ids string
		args := []any{least, nil, nil, nil, nil, nil, q.Model, q.Int8, q.bits()}
		err := c.row(v.ctx, query, args, &ids)
		if ids != "[]" && err == nil {
			near[i] = ids
		}
		return fail("compare vectors", err)
	})
	return near, err
}

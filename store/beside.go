package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"memd"
)

// Beside are the ids of the rows next to one in its session, whoever may see
// them: nearest first.
type Beside struct{ Before, After []string }

// span is the range of ids that a tier has in one database.
type span struct {
	part     int
	min, max string
}

// Beside returns the rows next to each of rows, short or archived ones with a
// session, over all databases: at most reach before it and reach after it, in
// the order of ids, which is that of creation. It is keyed by id.
func (v *View) Beside(t memd.Tier, rows []memd.Memory, reach int) (map[string]Beside, error) {
	spans, err := v.spans(t)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Beside, len(rows))
	// Files mostly follow each other in time: one that lies wholly beyond what
	// was found already is not asked.
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(b.max, a.max) })
	for _, s := range spans {
		err := v.beside(t, s.part, rows, reach, `<`, `DESC`, func(m *memd.Memory) bool {
			near := found[m.ID].Before
			return s.min < m.ID && (len(near) < reach || near[reach-1] < s.max)
		}, func(id string, ids []string) {
			b := found[id]
			b.Before = nearest(append(b.Before, ids...), reach, func(a, b string) int { return strings.Compare(b, a) })
			found[id] = b
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(a.min, b.min) })
	for _, s := range spans {
		err := v.beside(t, s.part, rows, reach, `>`, `ASC`, func(m *memd.Memory) bool {
			near := found[m.ID].After
			return s.max > m.ID && (len(near) < reach || near[reach-1] > s.min)
		}, func(id string, ids []string) {
			b := found[id]
			b.After = nearest(append(b.After, ids...), reach, cmp.Compare)
			found[id] = b
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// nearest are the first n of ids in an order, each once.
func nearest(ids []string, n int, order func(a, b string) int) []string {
	slices.SortFunc(ids, order)
	ids = slices.Compact(ids)
	return ids[:min(n, len(ids))]
}

// spans are the ranges of ids of a tier in each database that has rows of it.
func (v *View) spans(t memd.Tier) (spans []span, err error) {
	err = v.each(func(i int, c *conn) error {
		s := span{part: i}
		err := c.row(v.ctx, on(t, `SELECT (SELECT min(id) FROM {t}), (SELECT max(id) FROM {t})`), nil, nullText{&s.min}, nullText{&s.max})
		if s.max != "" {
			spans = append(spans, s)
		}
		return fail("read a range of ids", err)
	})
	return spans, err
}

// beside asks one database for the rows on one side of those of rows that want
// accepts.
func (v *View) beside(t memd.Tier, part int, rows []memd.Memory, reach int, side, order string, want func(*memd.Memory) bool, yield func(id string, ids []string)) error {
	type place struct {
		Namespace string `json:"n"`
		Session   string `json:"s"`
		ID        string `json:"i"`
	}
	var asked []place
	for i := range rows {
		if m := &rows[i]; m.SessionID != "" && want(m) {
			asked = append(asked, place{m.Namespace, m.SessionID, m.ID})
		}
	}
	c := v.conn(part)
	if len(asked) == 0 || c == nil {
		return nil
	}
	places, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	query := on(t, `SELECT w.value ->> 'i', (SELECT json_group_array(id) FROM (SELECT n.id FROM {t} n
 WHERE n.namespace = w.value ->> 'n' AND n.session_id = w.value ->> 's' AND n.id `+side+` w.value ->> 'i'
 ORDER BY n.id `+order+` LIMIT ?2)) FROM json_each(?1) w`)
	return fail("find the rows beside others", c.each(v.ctx, query, []any{string(places), reach}, func(r *sql.Rows) error {
		var id string
		var ids []string
		if err := r.Scan(&id, list{&ids}); err != nil {
			return err
		}
		yield(id, ids)
		return nil
	}))
}

// LoadIDs reads those of the rows of tier t with the given ids that are visible
// in scope and pass the filter, in no order and without raw_content.
func (v *View) LoadIDs(t memd.Tier, ids []string, scope Scope, filter Filter) ([]memd.Memory, error) {
	return v.loadBy(t, `json_each(?7) w CROSS JOIN {t} ON {t}.id = w.value`, ids, scope, filter)
}

// Twins is LoadIDs for the rows of some contents, by content_hash.
func (v *View) Twins(t memd.Tier, hashes []string, scope Scope, filter Filter) ([]memd.Memory, error) {
	return v.loadBy(t, `json_each(?1) n CROSS JOIN json_each(?7) w CROSS JOIN {t} ON {t}.namespace = n.value
 AND substr({t}.content_hash, 8, 16) = substr(w.value, 8, 16) AND {t}.content_hash = w.value`, hashes, scope, filter)
}

// loadBy reads the visible rows that pass the filter among those that from
// makes of what is wanted.
func (v *View) loadBy(t memd.Tier, from string, wanted []string, scope Scope, filter Filter) (found []memd.Memory, err error) {
	err = v.each(func(i int, c *conn) error {
		query := on(t, `SELECT `+foundColumns+` FROM `+from+` WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags)
		args := append(append(scope.args(), filter.args()...), jsonList(wanted))
		return fail("load rows", c.each(v.ctx, query, args, func(rows *sql.Rows) error {
			m, err := scanMemory(rows, t, false)
			if err != nil {
				return err
			}
			ok, err := v.current(i, &m)
			if ok {
				found = append(found, m)
			}
			return err
		}))
	})
	return found, err
}

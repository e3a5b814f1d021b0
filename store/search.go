package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// indexed are the tiers with a keyword index. A session's transient rows are
// few; recall reads them all.
var indexed = [...]memd.Tier{memd.Long, memd.Short, memd.Archive}

// Loc is where a row of some tier was found during one View.
type Loc struct {
	Part int // database
	RID  int64
}

// Corpus returns the rows of the indexed tiers over all databases and the
// code points of their summaries: what scores are computed against, whoever
// asks.
func (v *View) Corpus() (rows int, chars int64, err error) {
	err = v.each(func(i int, c *conn) error {
		e, err := v.extent(i, c)
		if err == nil {
			rows, chars = rows+e.rows, chars+e.chars
		}
		return err
	})
	return rows, chars, err
}

// DocFreqs returns how many rows of the indexed tiers hold each of some index
// terms, over all databases.
func (v *View) DocFreqs(words []string) ([]int, error) {
	total := make([]int, len(words))
	wanted := jsonList(words)
	err := v.each(func(i int, c *conn) error {
		e, err := v.extent(i, c)
		if err != nil {
			return err
		}
		ok, err := v.within(i, c, func(x *index) error {
			for n := range x.tiers {
				err := x.tiers[n].shards(i, e.last[n], func(s *Shard) error {
					for at, word := range words {
						total[at] += s.docFreq(word)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if ok || err != nil {
			return err
		}
		var parts []string
		for _, t := range indexed {
			if e.has(t) { // often not all, and to search the others takes as long as to find little
				parts = append(parts, on(t, `SELECT w.key, {t}_vocab.doc FROM json_each(?1) w CROSS JOIN {t}_vocab ON {t}_vocab.term = w.value`))
			}
		}
		if parts == nil {
			return nil
		}
		return fail("read document frequencies", c.each(v.ctx, strings.Join(parts, " UNION ALL "), []any{wanted}, func(rows *sql.Rows) error {
			var at, n int
			err := rows.Scan(&at, &n)
			if err == nil {
				total[at] += n
			}
			return err
		}))
	})
	return total, err
}

// Postings calls yield for every row of tier t that the FTS5 expression match
// finds in some databases, nil for all, whoever may see it: it reads the index alone, which
// costs a fraction of a look at the rows. Load tells which of them are visible.
func (v *View) Postings(t memd.Tier, in []int, match string, yield func(Loc)) error {
	query := on(t, `SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?`)
	return v.each(func(i int, c *conn) error {
		if in != nil && !slices.Contains(in, i) {
			return nil
		}
		return fail("search the keyword index", c.each(v.ctx, query, []any{match}, func(rows *sql.Rows) error {
			loc := Loc{Part: i}
			if err := rows.Scan(&loc.RID); err != nil {
				return err
			}
			yield(loc)
			return nil
		}))
	})
}

// Texts calls yield with what is indexed of the rows of tier t at locs, those of
// the namespaces in scope, whether or not they are visible.
func (v *View) Texts(t memd.Tier, locs []Loc, scope Scope, yield func(Loc, *memd.Memory)) error {
	query := on(t, selectIndexed+` WHERE {t}.rid IN (SELECT value FROM json_each(?3)) AND `+inNamespace)
	return v.eachWanted(locs, func(i int, c *conn, rids string) error {
		return fail("read what is indexed", c.each(v.ctx, query, []any{jsonList(scope.Namespaces), scope.All, rids}, func(rows *sql.Rows) error {
			rid, m, err := scanIndexed(rows, t)
			if err == nil {
				yield(Loc{Part: i, RID: rid}, &m)
			}
			return err
		}))
	})
}

// Load reads those of the rows of tier t at locs that are visible in scope and
// pass the filter, in the order given and without raw_content.
func (v *View) Load(t memd.Tier, locs []Loc, scope Scope, filter Filter) ([]memd.Memory, error) {
	rows, _, err := v.LoadAt(t, locs, scope, filter)
	return rows, err
}

// LoadAt is Load, with the place of each row in locs.
func (v *View) LoadAt(t memd.Tier, locs []Loc, scope Scope, filter Filter) (rows []memd.Memory, at []int, err error) {
	found := make(map[Loc]memd.Memory, len(locs))
	err = v.eachWanted(locs, func(i int, c *conn, rids string) error {
		query := on(t, `SELECT {t}.rid, `+foundColumns+` FROM json_each(?7) w CROSS JOIN {t} ON {t}.rid = w.value
 WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags)
		args := append(append(scope.args(), filter.args()...), rids)
		return fail("load rows", c.each(v.ctx, query, args, func(rows *sql.Rows) error {
			loc := Loc{Part: i}
			m, err := scanMemory(rows, t, false, &loc.RID)
			if err != nil {
				return err
			}
			ok, err := v.current(i, &m)
			if ok {
				found[loc] = m
			}
			return err
		}))
	})
	if err != nil {
		return nil, nil, err
	}
	rows, at = make([]memd.Memory, 0, len(found)), make([]int, 0, len(found))
	for i, l := range locs {
		if m, ok := found[l]; ok {
			rows, at = append(rows, m), append(at, i)
		}
	}
	return rows, at, nil
}

// LoadNewest is Load for the limit newest of the visible rows, by id, which is
// by creation.
func (v *View) LoadNewest(t memd.Tier, locs []Loc, scope Scope, filter Filter, limit int) ([]memd.Memory, error) {
	var newest []memd.Memory
	err := v.eachWanted(locs, func(i int, c *conn, rids string) error {
		oldest := "" // of those found, once they are as many as wanted
		if len(newest) == limit {
			oldest = newest[limit-1].ID
		}
		var latest string
		if err := c.row(v.ctx, on(t, `SELECT max(id) FROM {t}`), nil, nullText{&latest}); err != nil || latest <= oldest {
			return fail("read the newest id", err)
		}
		query := on(t, `SELECT `+foundColumns+` FROM json_each(?7) w CROSS JOIN {t} ON {t}.rid = w.value
 WHERE `+v.visible(i, t)+` AND `+hasKind+` AND `+hasTags+` AND {t}.id > ?8
 ORDER BY {t}.id DESC LIMIT ?9`)
		found, err := v.firstRows(i, c, t, false, query, append(append(scope.args(), filter.args()...), rids, oldest), limit, v.current)
		newest = append(newest, found...)
		slices.SortFunc(newest, func(a, b memd.Memory) int { return strings.Compare(b.ID, a.ID) })
		newest = newest[:min(len(newest), limit)]
		return err
	})
	return newest, err
}

// eachWanted calls fn with every database that holds any of locs, and their
// rids there as a JSON list.
func (v *View) eachWanted(locs []Loc, fn func(i int, c *conn, rids string) error) error {
	wanted := make([][]int64, len(v.parts))
	for _, l := range locs {
		wanted[l.Part] = append(wanted[l.Part], l.RID)
	}
	return v.each(func(i int, c *conn) error {
		if len(wanted[i]) == 0 {
			return nil
		}
		return fn(i, c, jsonRIDs(wanted[i]))
	})
}

// Removed looks at no more than limit matching rows of tier t in each database
// and calls count with the first condition that keeps each out of scope:
// superseded, expired, namespace, access, kind or tag, "" for none. Rows of
// namespaces that the caller may not see, and rows under access tags that it
// does not hold, are passed over: their very existence is not told, nor do
// they use up the limit.
func (v *View) Removed(t memd.Tier, match string, scope Scope, filter Filter, c memd.Caller, limit int, count func(id, reason string)) error {
	source := `(SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?7) f CROSS JOIN {t} ON {t}.rid = f.rowid`
	return v.removed(t, source, func(int) string { return match }, scope, filter, c, limit, count)
}

// removed is Removed for the rows that source makes of what wanted names in a
// database, "" for none.
func (v *View) removed(t memd.Tier, source string, wanted func(i int) string, scope Scope, filter Filter, c memd.Caller, limit int, count func(id, reason string)) error {
	query := func(i int) string {
		superseded := `FALSE`
		if i == 0 {
			superseded = `NOT ` + isCurrent(t)
		}
		return on(t, `SELECT CASE WHEN `+superseded+` THEN 'superseded' WHEN NOT `+isAlive+` THEN 'expired'
 WHEN NOT `+inNamespace+` THEN 'namespace' WHEN NOT `+isOpen+` THEN 'access'
 WHEN NOT `+hasKind+` THEN 'kind' WHEN NOT `+hasTags+` THEN 'tag' ELSE '' END,
 {t}.id, {t}.namespace, {t}.memory_key, {t}.version
 FROM `+source+`
 WHERE (?9 OR {t}.namespace IN (SELECT value FROM json_each(?10)))
   AND (?11 OR NOT EXISTS (SELECT 1 FROM json_each({t}.access) a
     WHERE a.value NOT IN (SELECT value FROM json_each(?12))))
 LIMIT ?8`)
	}
	shown := []any{limit, c.Namespaces == nil, jsonList(c.Namespaces), c.AllAccess, jsonList(c.Access)}
	return v.each(func(i int, c *conn) error {
		from := wanted(i)
		if from == "" {
			return nil
		}
		args := append(append(append(scope.args(), filter.args()...), from), shown...)
		return fail("count what filters removed", c.each(v.ctx, query(i), args, func(rows *sql.Rows) error {
			var reason string
			m := memd.Memory{Tier: t}
			if err := rows.Scan(&reason, &m.ID, &m.Namespace, nullText{&m.MemoryKey}, number{&m.Version}); err != nil {
				return err
			}
			if ok, err := v.stands(i, m.ID); !ok || err != nil {
				return err
			}
			if ok, err := v.current(i, &m); err != nil {
				return err
			} else if !ok {
				reason = "superseded"
			}
			count(m.ID, reason)
			return nil
		}))
	})
}

// Superseded returns at most limit old versions in scope that match, newest
// first.
func (v *View) Superseded(match string, scope Scope, limit int) ([]memd.Memory, error) {
	args := append(scope.args(), match)
	query := func(i int) string {
		old := `TRUE`
		if i == 0 {
			old = `NOT ` + isHead
		}
		return on(memd.Long, `SELECT `+foundColumns+` FROM (SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?5) f
 CROSS JOIN {t} ON {t}.rid = f.rowid
 WHERE `+inNamespace+` AND `+isOpen+` AND `+isAlive+` AND `+old+`
 ORDER BY +{t}.id DESC LIMIT ?6`)
	}
	keep := func(i int, m *memd.Memory) (bool, error) {
		if ok, err := v.stands(i, m.ID); !ok || err != nil {
			return ok, err
		}
		head, err := v.current(i, m)
		return i == 0 || !head, err
	}
	found, err := v.rows(memd.Long, false, query, args, limit, keep)
	slices.SortFunc(found, func(a, b memd.Memory) int { return strings.Compare(b.ID, a.ID) })
	return found[:min(len(found), limit)], err
}

// HasHead reports whether a live head that is visible in scope stands under a
// key of one namespace.
func (v *View) HasHead(scope Scope, namespace, key string) (bool, error) {
	scope.Namespaces, scope.All = []string{namespace}, false
	h, ok, err := v.Head(namespace, key)
	if err != nil || !ok || h.ID == "" {
		return false, err
	}
	query := func(i int) string {
		return on(memd.Long, `SELECT `+foundColumns+` FROM {t} WHERE {t}.id = ?5 AND `+v.visible(i, memd.Long)+` LIMIT ?6`)
	}
	found, err := v.rows(memd.Long, false, query, append(scope.args(), h.ID), 1, v.current)
	return len(found) > 0, err
}

// Pinned returns the live long heads of the given kinds in scope, the most
// important first.
func (v *View) Pinned(scope Scope, kinds []memd.Kind) ([]memd.Memory, error) {
	query := func(i int) string {
		return on(memd.Long, `SELECT `+foundColumns+` FROM {t} WHERE `+v.visible(i, memd.Long)+` AND `+hasKind+` AND ?6 IS NULL LIMIT ?7`)
	}
	found, err := v.rows(memd.Long, false, query, append(scope.args(), Filter{Kinds: kinds}.args()...), noLimit, v.current)
	slices.SortFunc(found, byImportance)
	return found, err
}

// byImportance orders rows by importance, then by when they were changed.
func byImportance(a, b memd.Memory) int {
	return cmp.Or(b.Importance-a.Importance, b.UpdatedAt.Compare(a.UpdatedAt.Time), strings.Compare(a.ID, b.ID))
}

// Valued returns at most limit short rows in scope of at least the given
// importance or folded access count, the most important first.
func (v *View) Valued(scope Scope, importance, access, limit int) ([]memd.Memory, error) {
	query := func(i int) string {
		return on(memd.Short, `SELECT `+foundColumns+` FROM {t} WHERE `+v.visible(i, memd.Short)+`
 AND ({t}.importance >= ?5 OR {t}.access_count >= ?6)
 ORDER BY {t}.importance DESC, {t}.updated_at DESC, {t}.id LIMIT ?7`)
	}
	found, err := v.rows(memd.Short, false, query, append(scope.args(), importance, access), limit, v.current)
	slices.SortFunc(found, byImportance)
	return found[:min(len(found), limit)], err
}

// Latest returns the last-written short rows in scope, at most limit.
func (v *View) Latest(scope Scope, limit int) ([]memd.Memory, error) {
	query := func(i int) string {
		return on(memd.Short, `SELECT `+foundColumns+` FROM {t} WHERE `+v.visible(i, memd.Short)+`
 ORDER BY {t}.written_at DESC, {t}.id LIMIT ?5`)
	}
	found, err := v.rows(memd.Short, false, query, scope.args(), limit, v.current)
	slices.SortFunc(found, func(a, b memd.Memory) int {
		return cmp.Or(b.WrittenAt.Compare(a.WrittenAt.Time), strings.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), limit)], err
}

const noLimit = 1 << 30

// rows reads rows of tier t, of each database the first limit that keep
// accepts. A query's last parameter is how many rows it returns at most; a
// database whose query is "" is passed over. With raw the query reads raw_content
// as its last column.
func (v *View) rows(t memd.Tier, raw bool, query func(i int) string, args []any, limit int, keep func(int, *memd.Memory) (bool, error)) ([]memd.Memory, error) {
	var found []memd.Memory
	err := v.each(func(i int, c *conn) error {
		text := query(i)
		if text == "" {
			return nil
		}
		first, err := v.firstRows(i, c, t, raw, text, args, limit, keep)
		found = append(found, first...)
		return err
	})
	return found, err
}

// firstRows is rows for one database.
func (v *View) firstRows(i int, c *conn, t memd.Tier, raw bool, text string, args []any, limit int, keep func(int, *memd.Memory) (bool, error)) ([]memd.Memory, error) {
	// What keep refuses makes room for more, and is rare.
	for asked := limit; ; asked *= 4 {
		read := 0
		var kept []memd.Memory
		err := c.each(v.ctx, text, append(args[:len(args):len(args)], asked), func(rows *sql.Rows) error {
			m, err := scanMemory(rows, t, raw)
			if err != nil {
				return err
			}
			read++
			ok, err := keep(i, &m)
			if ok && len(kept) < limit {
				kept = append(kept, m)
			}
			return err
		})
		if err != nil {
			return nil, fail("read "+string(t)+" rows", err)
		}
		if len(kept) == limit || read < asked {
			return kept, nil
		}
	}
}

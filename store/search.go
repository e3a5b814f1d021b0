package store

import (
	"database/sql"
	"encoding/json"

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
	for _, c := range v.conns {
		var r int
		var n int64
		err := c.row(v.ctx, `SELECT coalesce(sum(rows), 0), coalesce(sum(chars), 0) FROM tally WHERE tier <> 'transient'`,
			nil, &r, &n)
		if err != nil {
			return 0, 0, fail("read the tally", err)
		}
		rows, chars = rows+r, chars+n
	}
	return rows, chars, nil
}

// DocFreq returns how many rows of the indexed tiers hold an index term, over
// all databases.
func (v *View) DocFreq(term string) (int, error) {
	total := 0
	for _, c := range v.conns {
		for _, t := range indexed {
			var n int
			err := c.row(v.ctx, on(t, `SELECT doc FROM {t}_vocab WHERE term = ?`), []any{term}, &n)
			if _, err := none(err); err != nil {
				return 0, fail("read a document frequency", err)
			}
			total += n
		}
	}
	return total, nil
}

// Postings calls yield for every row of tier t that the FTS5 expression match
// finds, whoever may see it: it reads the index alone, which costs a fraction
// of a look at the rows. Load tells which of them are visible.
func (v *View) Postings(t memd.Tier, match string, yield func(Loc)) error {
	query := on(t, `SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?`)
	for i, c := range v.conns {
		err := c.each(v.ctx, query, []any{match}, func(rows *sql.Rows) error {
			loc := Loc{Part: i}
			if err := rows.Scan(&loc.RID); err != nil {
				return err
			}
			yield(loc)
			return nil
		})
		if err != nil {
			return fail("search the keyword index", err)
		}
	}
	return nil
}

// Load reads those of the rows of tier t at locs that are visible in scope and
// pass the filter, in the order given and without raw_content.
func (v *View) Load(t memd.Tier, locs []Loc, scope Scope, filter Filter) ([]memd.Memory, error) {
	query := on(t, `SELECT {t}.rid, `+foundColumns+` FROM json_each(?7) w CROSS JOIN {t} ON {t}.rid = w.value
 WHERE `+visible(t)+` AND `+hasKind+` AND `+hasTags)
	wanted := make([][]int64, len(v.conns))
	for _, l := range locs {
		wanted[l.Part] = append(wanted[l.Part], l.RID)
	}
	found := make(map[Loc]memd.Memory, len(locs))
	for i, c := range v.conns {
		if len(wanted[i]) == 0 {
			continue
		}
		rids, err := json.Marshal(wanted[i])
		if err != nil {
			return nil, err
		}
		args := append(append(scope.args(), filter.args()...), string(rids))
		err = c.each(v.ctx, query, args, func(rows *sql.Rows) error {
			loc := Loc{Part: i}
			m, err := scanMemory(rows, t, false, &loc.RID)
			found[loc] = m
			return err
		})
		if err != nil {
			return nil, fail("load rows", err)
		}
	}
	out := make([]memd.Memory, 0, len(found))
	for _, l := range locs {
		if m, ok := found[l]; ok {
			out = append(out, m)
		}
	}
	return out, nil
}

// Removed looks at no more than limit matching rows of tier t in each database
// and calls count with the first condition that keeps each out of scope:
// superseded, expired, namespace, access, kind or tag, "" for none. Rows of
// namespaces that the caller may not see, and rows under access tags that it
// does not hold, are passed over: their very existence is not told, nor do
// they use up the limit.
func (v *View) Removed(t memd.Tier, match string, scope Scope, filter Filter, c memd.Caller, limit int, count func(reason string)) error {
	query := on(t, `SELECT CASE WHEN NOT `+isCurrent(t)+` THEN 'superseded' WHEN NOT `+isAlive+` THEN 'expired'
 WHEN NOT `+inNamespace+` THEN 'namespace' WHEN NOT `+isOpen+` THEN 'access'
 WHEN NOT `+hasKind+` THEN 'kind' WHEN NOT `+hasTags+` THEN 'tag' ELSE '' END
 FROM (SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?7) f
 CROSS JOIN {t} ON {t}.rid = f.rowid
 WHERE (?9 OR {t}.namespace IN (SELECT value FROM json_each(?10)))
   AND (?11 OR NOT EXISTS (SELECT 1 FROM json_each({t}.access) a
     WHERE a.value NOT IN (SELECT value FROM json_each(?12))))
 LIMIT ?8`)
	args := append(append(scope.args(), filter.args()...), match, limit,
		c.Namespaces == nil, jsonList(c.Namespaces), c.AllAccess, jsonList(c.Access))
	for _, conn := range v.conns {
		err := conn.each(v.ctx, query, args, func(rows *sql.Rows) error {
			var reason string
			err := rows.Scan(&reason)
			if err == nil {
				count(reason)
			}
			return err
		})
		if err != nil {
			return fail("count what filters removed", err)
		}
	}
	return nil
}

// Superseded returns at most limit old versions in scope that match, newest
// first.
func (v *View) Superseded(match string, scope Scope, limit int) ([]memd.Memory, error) {
	return v.rowsOf(memd.Long, `SELECT `+foundColumns+` FROM (SELECT rowid FROM {t}_fts WHERE {t}_fts MATCH ?5) f
 CROSS JOIN {t} ON {t}.rid = f.rowid
 WHERE `+inNamespace+` AND `+isOpen+` AND `+isAlive+` AND NOT `+isHead+`
 ORDER BY +{t}.id DESC LIMIT ?6`, append(scope.args(), match, limit))
}

// HasHead reports whether a live head that is visible in scope stands under a
// key of one namespace.
func (v *View) HasHead(scope Scope, namespace, key string) (bool, error) {
	scope.Namespaces, scope.All = []string{namespace}, false
	query := on(memd.Long, `SELECT EXISTS (SELECT 1 FROM {t}
 WHERE {t}.namespace = ?5 AND {t}.memory_key = ?6 AND `+visible(memd.Long)+`)`)
	args := append(scope.args(), namespace, key)
	for _, c := range v.conns {
		var live bool
		if err := c.row(v.ctx, query, args, &live); live || err != nil {
			return live, fail("look for a live head", err)
		}
	}
	return false, nil
}

// Pinned returns the live long heads of the given kinds in scope. Like Valued
// and Latest it orders within one database; over several the caller merges.
func (v *View) Pinned(scope Scope, kinds []memd.Kind) ([]memd.Memory, error) {
	return v.rowsOf(memd.Long, `SELECT `+foundColumns+` FROM {t} WHERE `+visible(memd.Long)+` AND `+hasKind+` AND ?6 IS NULL
 ORDER BY {t}.importance DESC, {t}.updated_at DESC, {t}.id`, append(scope.args(), Filter{Kinds: kinds}.args()...))
}

// Valued returns at most limit short rows in scope of at least the given
// importance or folded access count, the most important first.
func (v *View) Valued(scope Scope, importance, access, limit int) ([]memd.Memory, error) {
	return v.rowsOf(memd.Short, `SELECT `+foundColumns+` FROM {t} WHERE `+visible(memd.Short)+`
 AND ({t}.importance >= ?5 OR {t}.access_count >= ?6)
 ORDER BY {t}.importance DESC, {t}.updated_at DESC, {t}.id LIMIT ?7`, append(scope.args(), importance, access, limit))
}

// Latest returns the last-written short rows in scope, at most limit.
func (v *View) Latest(scope Scope, limit int) ([]memd.Memory, error) {
	return v.rowsOf(memd.Short, `SELECT `+foundColumns+` FROM {t} WHERE `+visible(memd.Short)+`
 ORDER BY {t}.written_at DESC, {t}.id LIMIT ?5`, append(scope.args(), limit))
}

func (v *View) rowsOf(t memd.Tier, query string, args []any) ([]memd.Memory, error) {
	var found []memd.Memory
	for _, c := range v.conns {
		if err := c.each(v.ctx, on(t, query), args, collect(t, false, &found)); err != nil {
			return nil, fail("read "+string(t)+" rows", err)
		}
	}
	return found, nil
}

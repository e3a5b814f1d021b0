package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// Candidate is a row that a pass of a groom plans to change, without its body.
type Candidate struct {
	ID        string
	File      string // the historical database that it stands in, "" for the active one
	Tier      memd.Tier
	Namespace string
	Key       string
	Version   int
	Reads     int     // folded in
	Value     float64 // what it is worth, see valueNow
}

// Rule is a condition on the rows of a tier, by which a pass plans and, within
// the write, looks again.
type Rule struct {
	tier  memd.Tier
	where string // of {t}; ?1 is now, ?2 an id, its own parameters follow
	now   memd.Time
	args  []any
}

// notImported is the condition that a row did not come by an import after ?.
const notImported = `NOT EXISTS (SELECT 1 FROM imported i WHERE i.memory_id = {t}.id AND i.at > ?5)`

// Expired are the rows of a tier whose time has come, but for those that are
// owed.
func Expired(t memd.Tier, now memd.Time) Rule {
	return Rule{t, `{t}.expires_at IS NOT NULL AND {t}.expires_at <= ?3 AND {t}.memory_key IS NULL`, now, []any{now.String()}}
}

// Any are all rows of a tier.
func Any(t memd.Tier, now memd.Time) Rule { return Rule{t, `?3`, now, []any{true}} }

// Unretained are the short rows last written before the given time that neither
// importance nor use keeps in their tier.
func Unretained(before, now memd.Time) Rule {
	return Rule{memd.Short, `{t}.written_at < ?3 AND {t}.importance < 7 AND {t}.access_count < 3`, now, []any{before.String()}}
}

// Unread are the short rows of that importance at most, last written before the
// given time, that were never read, nor imported after the other time.
func Unread(importance int, before, imported, now memd.Time) Rule {
	return Rule{memd.Short, `{t}.written_at < ?3 AND {t}.importance <= ?4 AND {t}.access_count = 0 AND ` + notImported, now,
		[]any{before.String(), importance, imported.String()}}
}

// Resolved are the pitfalls of the long tier that are no longer.
func Resolved(now memd.Time) Rule {
	return Rule{memd.Long, `{t}.kind = ?3 AND {t}.resolved_at IS NOT NULL`, now, []any{string(memd.Pitfall)}}
}

// Unkept are the archived rows without a key last written before the given time,
// and not imported after the other.
func Unkept(before, imported, now memd.Time) Rule {
	return Rule{memd.Archive, `{t}.written_at < ?3 AND {t}.memory_key IS ?4 AND ` + notImported, now,
		[]any{before.String(), nil, imported.String()}}
}

const candidateColumns = `{t}.id, {t}.namespace, {t}.memory_key, {t}.version, {t}.access_count, ` + worth

// worth is valueNow, and nothing where a hand edit left it without a time.
const worth = `coalesce(` + valueNow + `, 0)`

// targets are where candidateColumns go.
func (c *Candidate) targets() []any {
	return []any{&c.ID, &c.Namespace, nullText{&c.Key}, number{&c.Version}, &c.Reads, &c.Value}
}

// Matching returns the rows that a rule is true of.
func (v *View) Matching(r Rule) ([]Candidate, error) {
	return v.candidates(r.tier, `SELECT `+candidateColumns+` FROM {t} WHERE ?2 IS NULL AND `+r.where,
		append([]any{r.now.String(), nil}, r.args...)...)
}

// candidates returns the rows of tier t that a query of candidateColumns finds.
func (v *View) candidates(t memd.Tier, query string, args ...any) ([]Candidate, error) {
	var all []Candidate
	err := v.each(func(i int, c *conn) error {
		if t == memd.Transient && i > 0 || !v.ready(i) {
			return nil
		}
		var here []Candidate
		err := c.each(v.ctx, on(t, query), args, func(rows *sql.Rows) error {
			found := Candidate{File: v.parts[i].file, Tier: t}
			err := rows.Scan(found.targets()...)
			here = append(here, found)
			return err
		})
		if err != nil {
			return fail("plan a groom", err)
		}
		for _, found := range here {
			ok, err := v.stands(i, found.ID)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, found)
			}
		}
		return nil
	})
	return all, err
}

// ready reports whether a database has the schema that grooms read. One that could
// not be brought up to date yet, since another program held it, is read by the
// next run: the last pass makes it ready. See Unavailable.
func (v *View) ready(i int) bool {
	p := v.parts[i]
	if !p.unready.Load() {
		return true
	}
	if v.missed[i] == nil {
		v.missed[i] = memd.Errorf(memd.CodeStoreBusy, "%s could not be brought up to date yet", p.file)
	}
	return false
}

// EachNote calls fn with every transient row and its session, the oldest first.
func (v *View) EachNote(now memd.Time, fn func(c Candidate, session string)) error {
	err := v.active().each(v.ctx, on(memd.Transient, `SELECT `+candidateColumns+`, session_id FROM {t} ORDER BY rid`), []any{now.String()},
		func(rows *sql.Rows) error {
			c, session := Candidate{Tier: memd.Transient}, ""
			err := rows.Scan(append(c.targets(), &session)...)
			fn(c, session)
			return err
		})
	return fail("plan a groom", err)
}

// LeastFirst sorts rows by what they are worth.
func LeastFirst(rows []Candidate) {
	slices.SortFunc(rows, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.ID, b.ID))
	})
}

// Places looks up where the rows with the given ids stand, but for transient
// ones. Those that no database has are missing, nil as long as one cannot be
// read.
func (v *View) Places(ids []string) (found []Candidate, missing []string, err error) {
	at := make(map[string]bool, len(ids))
	missing = ids
	err = v.each(func(i int, c *conn) error {
		if len(missing) == 0 {
			return nil
		}
		var here []Candidate
		for _, t := range indexed {
			err := c.each(v.ctx, on(t, `SELECT {t}.id, {t}.namespace FROM json_each(?) w CROSS JOIN {t} ON {t}.id = w.value`),
				[]any{jsonList(missing)}, func(rows *sql.Rows) error {
					place := Candidate{File: v.parts[i].file, Tier: t}
					err := rows.Scan(&place.ID, &place.Namespace)
					here = append(here, place)
					return err
				})
			if err != nil {
				return fail("look for rows", err)
			}
		}
		for _, place := range here {
			ok, err := v.stands(i, place.ID)
			if err != nil {
				return err
			}
			if ok {
				at[place.ID] = true
				found = append(found, place)
			}
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(id string) bool { return at[id] })
		return nil
	})
	if err == nil && v.absent() != nil {
		missing = nil
	}
	return found, missing, err
}

// Rows returns how many rows tier t holds.
func (v *View) Rows(t memd.Tier) (n int, err error) {
	query, args := `SELECT rows FROM tally WHERE tier = ?1`, []any{string(t)}
	if t != memd.Transient {
		query = on(t, `SELECT rows + (SELECT coalesce(sum({t}), 0) FROM history WHERE state <> 'copying')
 - (SELECT count(*) FROM gone WHERE tier = ?1) FROM tally WHERE tier = ?1`)
	}
	err = v.active().row(v.ctx, query, args, &n)
	return n, fail("count rows", err)
}

// Unfolded counts the accesses that are not folded in yet, by memory.
func (v *View) Unfolded() (map[string]int, error) {
	counts := map[string]int{}
	err := v.active().each(v.ctx, `SELECT memory_id, count(*) FROM access_log WHERE folded = 0 GROUP BY memory_id`, nil,
		func(rows *sql.Rows) error {
			var id string
			var n int
			err := rows.Scan(&id, &n)
			counts[id] = n
			return err
		})
	return counts, fail("count accesses", err)
}

// Unfolded counts a memory's accesses that are not folded in yet.
func (tx *Tx) Unfolded(id string) (n int, err error) {
	err = tx.conn.row(tx.ctx, `SELECT count(*) FROM access_log WHERE memory_id = ? AND folded = 0`, []any{id}, &n)
	return n, fail("count accesses", err)
}

// At prepares a write of rows that were planned to stand in a historical
// database. What has left that since is not found.
func (tx *Tx) At(file string, ids ...string) error {
	p := tx.w.part(file)
	if p == nil || p.broken() != nil {
		return nil
	}
	c, err := p.own(tx.ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var has bool
		err := c.row(tx.ctx, `SELECT EXISTS (SELECT 1 FROM short WHERE id = ?1) OR EXISTS (SELECT 1 FROM long WHERE id = ?1)
 OR EXISTS (SELECT 1 FROM archive WHERE id = ?1)`, []any{id}, &has)
		if err == nil && has {
			_, err = tx.found(p, id)
		}
		if err != nil {
			return fail("look for a row", p.failed(err))
		}
	}
	return nil
}

// own is the connection that reads a row where it stands. See At.
func (tx *Tx) own(id string) (*conn, error) {
	if p := tx.at[id]; p != nil {
		return p.own(tx.ctx)
	}
	return tx.conn, nil
}

// Matches reports whether a rule is still true of a row, and what that is worth
// now. See At.
func (tx *Tx) Matches(r Rule, id string) (value float64, ok bool, err error) {
	c, err := tx.own(id)
	if err != nil {
		return 0, false, err
	}
	err = c.row(tx.ctx, on(r.tier, `SELECT `+worth+` FROM {t} WHERE {t}.id = ?2 AND `+r.where),
		append([]any{r.now.String(), id}, r.args...), &value)
	ok, err = none(err)
	return value, ok, fail("look at a row again", err)
}

// Load returns the whole row of tier t with the given id. See At.
func (tx *Tx) Load(t memd.Tier, id string) (m memd.Memory, ok bool, err error) {
	c, err := tx.own(id)
	if err != nil {
		return m, false, err
	}
	return get(tx.ctx, c, id, []memd.Tier{t})
}

// Spare has passes that judge leave a row alone for a day, as if it had just
// been imported. See At.
func (tx *Tx) Spare(id string, at memd.Time) error {
	c, err := tx.home(id)
	if err != nil {
		return err
	}
	_, err = c.exec(tx.ctx, `INSERT OR REPLACE INTO imported (memory_id, at) VALUES (?, ?)`, id, at.String())
	return fail("spare a row", err)
}

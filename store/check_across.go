package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// told is how many breaches of one kind a check names.
const told = 20

// census takes the census of what this View can read.
func (v *View) census() (*census, error) {
	return takeCensus(v.ctx, v.active(), v.parts, func(fn func(*part, *conn) error) error {
		return v.each(func(i int, c *conn) error { return fn(v.parts[i], c) })
	})
}

// checkAcross checks what holds over all databases together.
func (v *View) checkAcross(found *findings) error {
	c, err := v.census()
	if err != nil {
		return err
	}
	for _, check := range []func(*findings, *census) error{
		checkPlaces, checkHeads, checkHeadless, checkOutbox, checkLeftOver, v.checkGone, checkVectors,
	} {
		if err := check(found, c); err != nil {
			return err
		}
	}
	return nil
}

// all is the report of what concerns several databases.
func (f *findings) all(c *census) report {
	return func(check, fix, format string, args ...any) {
		if fix == mendable && !c.whole {
			fix = "bring back what cannot be read first, then " + mendable
		}
		*f = append(*f, Finding{Check: check, Fix: fix, Detail: fmt.Sprintf(format, args...)})
	}
}

func checkPlaces(found *findings, c *census) error {
	ids := slices.Sorted(maps.Keys(c.twice))
	for _, id := range ids[:min(told, len(ids))] {
		places := ""
		for _, at := range append([]place{c.at[id]}, c.twice[id]...) {
			places += fmt.Sprintf(" %s (%s)", at.part.name(), at.tier)
		}
		found.all(c)("one_place", mendable, "%s stands in%s", id, places)
	}
	return nil
}

func checkHeads(found *findings, c *census) error {
	n := 0
	for _, k := range sortedKeys(c.heads) {
		if h := c.heads[k]; n < told && c.lost(k, h) {
			n++
			where := ActiveName
			if h.File != "" {
				where = HistoryDir + "/" + h.File
			}
			found.all(c)("head_target", mendable, "the head of %s %s names no row of %s", k.namespace, k.key, where)
		}
	}
	return nil
}

func sortedKeys[V any](m map[headKey]V) []headKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b headKey) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.key, b.key))
	})
}

func checkHeadless(found *findings, c *census) error {
	none, behind := c.headless()
	may, err := c.revivable(none)
	if err != nil {
		return err
	}
	for n, k := range sortedKeys(none) {
		if n == told {
			break
		}
		fix := ""
		if _, ok := may[k]; ok {
			fix = mendable
		}
		found.all(c)("headless_key", fix, "%s has no head, as if %s %s had never been written", none[k].id, k.namespace, k.key)
	}
	for n, k := range sortedKeys(behind) {
		if n == told {
			break
		}
		found.all(c)("head_behind", "", "%s is newer than the head of %s %s", behind[k].id, k.namespace, k.key)
	}
	return nil
}

const outboxIDs = `SELECT memory_id FROM outbox`

func checkOutbox(found *findings, c *census) error {
	if !c.whole {
		return nil
	}
	idle, err := c.idle(outboxIDs)
	for _, p := range c.parts {
		for _, id := range idle[p][:min(told, len(idle[p]))] {
			found.in(p)("orphan_outbox", mendable, "%s waits for a vector and is no memory", id)
		}
	}
	return err
}

// carried are the tables whose rows live in the active database alone.
var carried = [...]string{"transient", "session", "once", "access_log", "gone", "history"}

// checkLeftOver names what a rollover takes out of a database. One that it could
// not take it out of yet, on a full disk, the next light groom does.
func checkLeftOver(found *findings, c *census) error {
	return c.each(func(p *part, in *conn) error {
		if p.file == "" {
			return nil
		}
		var shed bool
		if err := in.row(c.ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)`, []any{shedKey}, &shed); err != nil || !shed {
			return fail("look for what lives on elsewhere", err)
		}
		for _, table := range carried {
			var n int
			if err := in.row(c.ctx, `SELECT count(*) FROM `+table, nil, &n); err != nil {
				return fail("look for what lives on elsewhere", err)
			}
			if n > 0 {
				found.in(p)("left_over", mendable, "%s has %d rows, which live in %s alone", table, n, ActiveName)
			}
		}
		return nil
	})
}

// checkGone names rows that have left a historical database and that the light
// groom cannot delete there.
func (v *View) checkGone(found *findings, c *census) error {
	n := map[string]int{}
	for g := range c.gone {
		n[g[1]]++
	}
	for _, p := range v.parts {
		if p.file != "" && n[p.file] > 0 && p.broken() != nil {
			found.in(p)("gone_left", bringBack(p.file), "%d rows that were moved or forgotten still stand in a file that cannot be read", n[p.file])
		}
	}
	return nil
}

// census takes the census of what a write can read.
func (tx *Tx) census() (*census, error) {
	return takeCensus(tx.ctx, tx.conn, tx.w.set.parts(), tx.each)
}

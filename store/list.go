package store

import (
	"slices"
	"strings"

	"memd"
	"memd/store/terms"
)

// Selection is what a list asks for; zero fields do not filter.
type Selection struct {
	Scope     Scope
	Tiers     []memd.Tier
	Kind      memd.Kind
	Tag       string
	MemoryKey string
	Stale     *bool
	Q         string // part of the summary, compared as terms.Fold writes it
	Sessions  string // transient rows only of sessions that this identity opened; "" is any
	Session   string // and only of this one; "" is any
	Before    string // only ids below this one, "" is from the top
	Limit     int
	Raw       bool // whether raw_content is read
	// FreshBefore are the times before which verified_at makes a row stale:
	// for kinds people state, and for the rest.
	FreshBefore, PersonalFreshBefore memd.Time
}

// isStale is the condition under which a row counts as stale: marked so or, in
// the long tier, verified too long ago. ?5 and ?6 are the two limits of
// freshness.
const isStale = `({t}.stale = 1 OR ('{t}' = 'long' AND {t}.verified_at <
  CASE WHEN {t}.kind IN ('preference', 'user', 'feedback') THEN ?6 ELSE ?5 END))`

// holdsQ is the condition that the summary has the part ?11. SQLite's own
// lower knows ASCII alone, which is most texts and much faster.
const holdsQ = `(?11 = '' OR CASE WHEN octet_length({t}.summary) = length({t}.summary)
  THEN instr(lower({t}.summary), ?11) ELSE instr(memd_fold({t}.summary), ?11) END > 0)`

// List returns rows newest first (by id, which is by creation), at most
// Limit. Of the long tier it lists heads.
func (v *View) List(sel Selection) ([]memd.Memory, error) {
	args := append(sel.Scope.args(), sel.FreshBefore.String(), sel.PersonalFreshBefore.String())
	var stale any
	if sel.Stale != nil {
		stale = *sel.Stale
	}
	args = append(args, orNull(string(sel.Kind)), orNull(sel.Tag), orNull(sel.MemoryKey), stale,
		terms.Fold(sel.Q), orNull(sel.Before), orNull(sel.Sessions), orNull(sel.Session))
	var found []memd.Memory
	for _, t := range sel.Tiers {
		cols := foundColumns
		owned := ` AND (?13 IS ?13 AND ?14 IS ?14)`
		if t == memd.Transient {
			cols = columns
			owned = ` AND (?13 IS NULL OR {t}.session_id IN (SELECT session_id FROM session WHERE owner = ?13))
 AND (?14 IS NULL OR {t}.session_id = ?14)`
		}
		if sel.Raw {
			cols += rawColumn
		}
		query := func(i int) string {
			if i > 0 && t == memd.Transient {
				return ""
			}
			return on(t, `SELECT `+cols+` FROM {t} WHERE `+v.visible(i, t)+`
 AND (?7 IS NULL OR {t}.kind = ?7)
 AND (?8 IS NULL OR ?8 IN (SELECT value FROM json_each({t}.tags)))
 AND (?9 IS NULL OR {t}.memory_key = ?9)
 AND (?10 IS NULL OR ?10 = `+isStale+`)
 AND `+holdsQ+`
 AND (?12 IS NULL OR {t}.id < ?12)`+owned+`
 ORDER BY {t}.id DESC LIMIT ?15`)
		}
		rows, err := v.rows(t, sel.Raw, query, args, sel.Limit, v.current)
		if err != nil {
			return nil, err
		}
		found = append(found, rows...)
	}
	slices.SortFunc(found, func(a, b memd.Memory) int { return strings.Compare(b.ID, a.ID) })
	return found[:min(len(found), sel.Limit)], nil
}

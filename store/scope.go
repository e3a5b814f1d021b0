package store

import (
	"slices"

	"memd"
)

// Scope is what a caller may see and asked to see. It is a parameter of every
// search, so that no path can forget it; its zero value sees nothing.
type Scope struct {
	Namespaces []string // nil sees nothing, unless All
	All        bool     // every namespace: an administrator's list
	Access     []string // access tags the caller holds and named
	Now        memd.Time
}

// Filter narrows a search; nil fields do not filter.
type Filter struct {
	Kinds []memd.Kind
	Tags  []string // a row must carry all
}

// Keeps reports whether a row passes the filter, for rows that were not found
// by a search.
func (f Filter) Keeps(m *memd.Memory) bool {
	if f.Kinds != nil && !slices.Contains(f.Kinds, m.Kind) {
		return false
	}
	for _, tag := range f.Tags {
		if !slices.Contains(m.Tags, tag) {
			return false
		}
	}
	return true
}

// Conditions on a row of table {t}. Numbered parameters are those of
// scopeArgs and filterArgs: 1 namespaces, 2 all, 3 access, 4 now, 5 kinds,
// 6 tags. They use built-in JSON functions, so that one statement serves any
// number of names.
const (
	inNamespace = `(?2 OR {t}.namespace IN (SELECT value FROM json_each(?1)))`
	isOpen      = `({t}.access = '[]' OR NOT EXISTS (SELECT 1 FROM json_each({t}.access) a
  WHERE a.value NOT IN (SELECT value FROM json_each(?3))))`
	isAlive = `({t}.expires_at IS NULL OR {t}.expires_at > ?4)`
	isHead  = `EXISTS (SELECT 1 FROM head h
  WHERE h.namespace = {t}.namespace AND h.memory_key = {t}.memory_key AND h.id = {t}.id)`
	hasKind = `(?5 IS NULL OR {t}.kind IN (SELECT value FROM json_each(?5)))`
	hasTags = `(?6 IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(?6) want
  WHERE want.value NOT IN (SELECT value FROM json_each({t}.tags))))`
)

// isLatest is isHead for rows of the archive: no later version was ever
// written under the row's key.
const isLatest = `({t}.memory_key IS NULL OR NOT EXISTS (SELECT 1 FROM head h
  WHERE h.namespace = {t}.namespace AND h.memory_key = {t}.memory_key AND h.version > {t}.version))`

// isCurrent is the condition under which a row of tier t is no superseded
// version.
func isCurrent(t memd.Tier) string {
	switch t {
	case memd.Long:
		return isHead
	case memd.Archive:
		return isLatest
	}
	return `TRUE`
}

// visible is the conjunction of the conditions that hold for every search of
// tier t.
func visible(t memd.Tier) string {
	return inNamespace + ` AND ` + isOpen + ` AND ` + isAlive + ` AND ` + isCurrent(t)
}

// visible is what the search of one database checks of that by itself: which
// version is current, only the active database knows, and View.current asks.
func (v *View) visible(i int, t memd.Tier) string {
	if i == 0 {
		return visible(t)
	}
	return inNamespace + ` AND ` + isOpen + ` AND ` + isAlive
}

func (s Scope) args() []any {
	return []any{jsonList(s.Namespaces), s.All, jsonList(s.Access), s.Now.String()}
}

func (f Filter) args() []any {
	args := []any{nil, nil}
	if f.Kinds != nil {
		kinds := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			kinds[i] = string(k)
		}
		args[0] = jsonList(kinds)
	}
	if f.Tags != nil {
		args[1] = jsonList(f.Tags)
	}
	return args
}

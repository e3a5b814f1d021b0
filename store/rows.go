package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strings"

	"memd"
)

// columns are those of a memory without raw_content, in the order of
// scanTargets.
const columns = columnsToHash + `{t}.content_hash` + columnsFromHash

// foundColumns are columns as a search of an indexed tier reads them: the hash
// of a row that was edited by hand no longer belongs to its text, and is left
// empty until the light groom has made it anew.
const foundColumns = columnsToHash + `CASE WHEN EXISTS (SELECT 1 FROM {t}_reindex e WHERE e.rid = {t}.rid)
 THEN '' ELSE {t}.content_hash END` + columnsFromHash

const (
	columnsToHash = `{t}.id, {t}.namespace, {t}.kind, {t}.memory_key, {t}.version, {t}.importance, {t}.tags,
 {t}.source, {t}.source_status, {t}.verified_at, {t}.verified_by, {t}.stale, {t}.stale_reason, {t}.owner,
 {t}.access, {t}.session_id, {t}.agent, {t}.created_at, {t}.updated_at, {t}.written_at, {t}.last_accessed_at,
 {t}.access_count, {t}.expires_at, {t}.resolved_at, `
	columnsFromHash = `, {t}.summary, {t}.why, {t}.how_to_apply`
)

// fullColumns adds raw_content.
const (
	rawColumn   = `, {t}.raw_content`
	fullColumns = columns + rawColumn
)

// nullText scans a nullable TEXT column; null is "".
type nullText struct{ dst *string }

func (n nullText) Scan(v any) error {
	switch s := v.(type) {
	case nil:
		*n.dst = ""
	case string:
		*n.dst = s
	case []byte:
		*n.dst = string(s)
	}
	return nil
}

// nullTime scans a TEXT time. A value that a hand edit left unreadable counts
// as absent: one bad row must not stop a recall; doctor names it.
type nullTime struct{ dst *memd.Time }

func (n nullTime) Scan(v any) error {
	*n.dst = memd.Time{}
	if s, ok := v.(string); ok {
		if t, err := memd.ParseTime(s); err == nil {
			*n.dst = t
		}
	}
	return nil
}

// list scans a JSON array of strings; anything else counts as empty.
type list struct{ dst *[]string }

func (l list) Scan(v any) error {
	*l.dst = []string{}
	if s, ok := v.(string); ok && len(s) > 2 {
		var items []string
		if json.Unmarshal([]byte(s), &items) == nil && items != nil {
			*l.dst = items
		}
	}
	return nil
}

// number scans a nullable INTEGER; null is 0.
type number struct{ dst *int }

func (n number) Scan(v any) error {
	*n.dst = 0
	if i, ok := v.(int64); ok {
		*n.dst = int(i)
	}
	return nil
}

// scanTargets are where the columns of a memory go, in the order of columns
// and, with raw, raw_content.
func scanTargets(m *memd.Memory, raw bool) []any {
	targets := []any{
		&m.ID, &m.Namespace, (*string)(&m.Kind), nullText{&m.MemoryKey}, number{&m.Version}, &m.Importance, list{&m.Tags},
		nullText{&m.Source}, (*string)(&m.SourceStatus), nullTime{&m.VerifiedAt}, nullText{&m.VerifiedBy},
		&m.Stale, nullText{(*string)(&m.StaleReason)}, nullText{&m.Owner},
		list{&m.Access}, nullText{&m.SessionID}, nullText{&m.Agent}, nullTime{&m.CreatedAt}, nullTime{&m.UpdatedAt},
		nullTime{&m.WrittenAt}, nullTime{&m.LastAccessedAt},
		&m.AccessCount, nullTime{&m.ExpiresAt}, nullTime{&m.ResolvedAt}, &m.ContentHash,
		&m.Summary, nullText{&m.Why}, nullText{&m.HowToApply},
	}
	if raw {
		targets = append(targets, nullText{&m.RawContent})
	}
	return targets
}

// scanMemory reads one memory of tier t, with prefix targets scanned first.
func scanMemory(rows *sql.Rows, t memd.Tier, raw bool, prefix ...any) (memd.Memory, error) {
	m := memd.Memory{Tier: t}
	err := rows.Scan(append(prefix, scanTargets(&m, raw)...)...)
	return m, err
}

// orNull stores "" and zero times as NULL.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func timeOrNull(t memd.Time) any { return orNull(t.String()) }

func numberOrNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// jsonList is the stored form of a list of strings, as a person would write
// it: without the escapes that make JSON safe within HTML.
func jsonList(items []string) string {
	if len(items) == 0 {
		return "[]"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(items); err != nil { // a []string always marshals
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonRIDs is a list of rids for json_each.
func jsonRIDs(rids []int64) string {
	text, err := json.Marshal(rids)
	if err != nil { // numbers always marshal
		panic(err)
	}
	return string(text)
}

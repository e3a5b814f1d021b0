package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"memd"
)

// Entry is one line of the log, the table audit. It names a memory, never its
// body.
type Entry struct {
	Seq       int64     `json:"seq"` // grows with every entry; gaps mean nothing
	At        memd.Time `json:"at"`
	Caller    string    `json:"caller"`
	Action    string    `json:"action"`
	ID        string    `json:"id,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	MemoryKey string    `json:"memory_key,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	Code      memd.Code `json:"code,omitempty"`  // of a refusal
	Field     string    `json:"field,omitempty"` // of a refusal: the field at fault
	Count     int       `json:"count"`           // how many equal ones the entry stands for, at least 1
}

// Bounds of the log. It holds the newest entries of a share of the active
// database, at most a quarter of them refusals: those a stranger can cause.
const (
	entrySize    = 128 // bytes of an entry, roughly
	refusedShare = 4
	trimEvery    = 64 // entries between two looks at how many there are, at most
)

// loggedMost is how many entries the log keeps.
func (s *Set) loggedMost() int64 { return max(refusedShare, s.budgets.ActiveBytes/bulkShare/entrySize) }

// Audit appends an entry. Once in a while it lets the oldest go.
func (tx *Tx) Audit(e Entry) error {
	err := tx.logEntry(e)
	if err == nil {
		if tx.w.untrimmed--; tx.w.untrimmed < 0 {
			tx.w.untrimmed = int(min(trimEvery, tx.w.set.loggedMost()/16))
			err = tx.w.set.trimLog(tx.ctx, tx.conn)
		}
	}
	return fail("write an audit entry", err)
}

func (tx *Tx) logEntry(e Entry) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO audit (at, caller, action, memory_id, namespace, memory_key, detail, code, field, count)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.At.String(), e.Caller, e.Action, orNull(e.ID), orNull(e.Namespace), orNull(e.MemoryKey),
		orNull(e.Detail), orNull(string(e.Code)), orNull(e.Field), max(1, e.Count))
	return err
}

// Memd is the caller of what memd does by itself: by a schedule, or since a budget is
// reached.
const Memd = "memd"

// logDone appends an entry for what was done to the whole store. It stands without
// that.
func (s *Set) logDone(ctx context.Context, e Entry, also func(*Tx) error) {
	e.At = s.Now()
	err := s.Update(context.WithoutCancel(ctx), func(tx *Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		return tx.Audit(e)
	})
	if err != nil {
		s.log.Warn("not noted in the log of writes", "action", e.Action, "error", err)
	}
}

// trimLog lets go of the oldest entries.
func (s *Set) trimLog(ctx context.Context, c *conn) error {
	most := s.loggedMost()
	_, err := c.exec(ctx, `DELETE FROM audit WHERE seq <= (SELECT seq FROM audit ORDER BY seq DESC LIMIT 1 OFFSET ?)`, most)
	return err
}

// logRefusals appends refusals. They let go of the oldest of their kind first, so
// that many push no write out.
func (tx *Tx) logRefusals(entries []Entry) error {
	for _, e := range entries {
		if err := tx.logEntry(e); err != nil {
			return fail("write an audit entry", err)
		}
	}
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM audit WHERE action IN (?1, ?2) AND seq <=
 (SELECT seq FROM audit WHERE action IN (?1, ?2) ORDER BY seq DESC LIMIT 1 OFFSET ?3)`, Refused, Blocked, tx.w.set.loggedMost()/refusedShare)
	if err == nil {
		err = tx.w.set.trimLog(tx.ctx, tx.conn)
	}
	return fail("trim the log", err)
}

// LogPlace is where an entry stands in the log: the end of a page.
type LogPlace struct {
	At  memd.Time
	Seq int64
}

// String is the form that ParseLogPlace reads.
func (p LogPlace) String() string { return fmt.Sprintf("%d-%d", p.At.UnixMilli(), p.Seq) }

// ParseLogPlace reads what String wrote; ok is false for anything else.
func ParseLogPlace(text string) (p LogPlace, ok bool) {
	at, seq, _ := strings.Cut(text, "-")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err == nil {
		p.Seq, err = strconv.ParseInt(seq, 10, 64)
	}
	p.At = memd.At(time.UnixMilli(ms))
	return p, err == nil && p.Seq > 0 && p.String() == text
}

// LogFilter narrows what of the log is read; the zero value is all of it.
type LogFilter struct {
	Caller, Action, ID string
	Namespaces         []string // entries of these alone, nil for all
	Before             LogPlace // entries that stand behind it alone, the zero place for all
	Limit              int      // at most so many
}

const readLog = `SELECT seq, at, caller, action, memory_id, namespace, memory_key, detail, code, field, count FROM audit
 WHERE (?1 = 0 OR (at, seq) < (?7, ?1)) AND (?2 IS NULL OR caller = ?2) AND (?3 IS NULL OR action = ?3) AND (?4 IS NULL OR memory_id = ?4)
 AND (?5 IS NULL OR namespace IN (SELECT value FROM json_each(?5)))
 ORDER BY at DESC, seq DESC LIMIT ?6`

// Log returns entries of the log, the newest first: by their time, for refusals are
// written some time after it.
func (v *View) Log(f LogFilter) ([]Entry, error) {
	var within any
	if f.Namespaces != nil {
		within = jsonList(f.Namespaces)
	}
	entries := []Entry{}
	err := v.active().each(v.ctx, readLog, []any{f.Before.Seq, orNull(f.Caller), orNull(f.Action), orNull(f.ID), within, f.Limit, f.Before.At.String()},
		func(rows *sql.Rows) error {
			var e Entry
			err := rows.Scan(&e.Seq, nullTime{&e.At}, &e.Caller, &e.Action, nullText{&e.ID}, nullText{&e.Namespace}, nullText{&e.MemoryKey},
				nullText{&e.Detail}, nullText{(*string)(&e.Code)}, nullText{&e.Field}, &e.Count)
			entries = append(entries, e)
			return err
		})
	return entries, fail("read the log", err)
}

// Flush writes what is buffered: accesses and refusals. What could not be written
// stays buffered.
func (s *Set) Flush(ctx context.Context) error {
	return errors.Join(s.FlushAccess(ctx), s.flushRefusals(ctx, false))
}

// FlushLog writes the refusals that wait for their turn: who reads the log sees all
// that was refused before.
func (s *Set) FlushLog(ctx context.Context) error { return s.flushRefusals(ctx, true) }

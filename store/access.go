package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"memd"
)

// Access is one reading of a memory that counts: at most one per memory,
// session and day.
type Access struct {
	ID      string
	Session string // a hash of its name
	Day     string // YYYY-MM-DD, UTC
}

// accessBuffer gathers accesses in memory, so that a read takes no write
// lock. What is in it when the process dies is lost; it is advice, not data.
type accessBuffer struct {
	mu   sync.Mutex
	seen map[Access]memd.Time
}

// Bounds of what accesses may take up. What is beyond them is not counted that
// day: counts are advice, and a caller that names ever new sessions must not
// fill the disk with them.
const (
	maxBuffered = 20000 // accesses in memory
	maxLogged   = 20000 // rows of access_log
	accessBatch = 500   // accesses of one write
)

func (b *accessBuffer) add(session string, at memd.Time, ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[Access]memd.Time{}
	}
	day := at.String()[:len("2006-01-02")]
	for _, id := range ids {
		a := Access{ID: id, Session: session, Day: day}
		if _, known := b.seen[a]; !known && len(b.seen) < maxBuffered {
			b.seen[a] = at
		}
	}
}

func (b *accessBuffer) take() map[Access]memd.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.seen
	b.seen = nil
	return taken
}

// Touch counts one access of each memory by a session. It only buffers:
// FlushAccess writes.
func (s *Set) Touch(session string, at memd.Time, ids ...string) {
	s.accesses.add(s.sessionHash(session), at, ids)
}

// sessionHash stands for a session in access_log: no guard looked at the name that
// the caller made up, and it may be of any length.
func (s *Set) sessionHash(session string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte("session\x00" + session))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// FlushAccess writes the buffered accesses. They reach access_count with the
// next fold. What could not be written stays buffered.
func (s *Set) FlushAccess(ctx context.Context) error {
	taken := s.accesses.take()
	for len(taken) > 0 {
		batch := make(map[Access]memd.Time, min(len(taken), accessBatch))
		for a, at := range taken {
			batch[a] = at
			delete(taken, a)
			if len(batch) == accessBatch {
				break
			}
		}
		if err := s.Update(ctx, func(tx *Tx) error { return tx.logAccesses(batch) }); err != nil {
			for _, rest := range []map[Access]memd.Time{batch, taken} {
				for a, at := range rest {
					s.accesses.add(a.Session, at, []string{a.ID})
				}
			}
			return err
		}
	}
	return nil
}

func (tx *Tx) logAccesses(batch map[Access]memd.Time) error {
	var logged int
	if err := tx.conn.row(tx.ctx, `SELECT count(*) FROM access_log`, nil, &logged); err != nil {
		return fail("count accesses", err)
	}
	for a, at := range batch {
		if logged++; logged > maxLogged {
			return nil
		}
		if _, err := tx.conn.exec(tx.ctx, `INSERT OR IGNORE INTO access_log (memory_id, session, day, at)
VALUES (?, ?, ?, ?)`, a.ID, a.Session, a.Day, at.String()); err != nil {
			return fail("write accesses", err)
		}
	}
	return nil
}

package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"sync"
)

// hashes are beginnings of the content hashes of a historical database's short
// and long rows. Every write asks whether its content stands already; that
// none has it is so known without asking twenty files.
type hashes struct {
	mu    sync.Mutex
	known map[uint64]struct{} // nil: not read yet, anything may be there
}

// start is the beginning of a content hash as hashes keep it.
func start(hash string) (uint64, bool) {
	const form = "sha256:"
	var b [8]byte
	if len(hash) < len(form)+16 {
		return 0, false
	}
	if _, err := hex.Decode(b[:], []byte(hash[len(form):len(form)+16])); err != nil {
		return 0, false
	}
	n := uint64(0)
	for _, v := range b {
		n = n<<8 | uint64(v)
	}
	return n, true
}

// has reports whether a row may have content of this hash.
func (h *hashes) has(hash string) bool {
	n, ok := start(hash)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || !ok {
		return true
	}
	_, ok = h.known[n]
	return ok
}

// add makes a hash known, of a row that was indexed anew or moved in.
func (h *hashes) add(hash string) {
	n, ok := start(hash)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known != nil && ok {
		h.known[n] = struct{}{}
	}
}

// load reads the hashes of a database. Rows may be deleted meanwhile, but none
// change or come: see Set.views.
func (h *hashes) load(ctx context.Context, c *conn) error {
	known := map[uint64]struct{}{}
	for _, query := range []string{`SELECT content_hash FROM short`, `SELECT content_hash FROM long`} {
		err := c.each(ctx, query, nil, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			err := rows.Scan(&hash)
			if n, ok := start(string(hash)); ok {
				known[n] = struct{}{}
			}
			return err
		})
		if err != nil {
			return fail("read content hashes", err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = known
	return nil
}

// loadHashes reads the hashes of every historical database that has none, one
// after the other. Until then writes ask the files.
func (s *Set) loadHashes(ctx context.Context) {
	for {
		done := true
		err := s.View(ctx, func(v *View) error {
			for i, p := range v.parts {
				if p.file == "" || p.hashes.loaded() || v.conn(i) == nil {
					continue
				}
				done = false
				return p.hashes.load(ctx, v.conns[i])
			}
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			s.log.Warn("content hashes of a historical database not read", "error", err)
		}
		if done || err != nil {
			return
		}
	}
}

func (h *hashes) loaded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known != nil
}

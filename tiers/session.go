package tiers

import (
	"context"
	"time"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/guard/fence"
	"memd/store"
)

// Note writes a transient row of a session, opening the session for the
// caller when nobody has. Over the row budget the oldest row of the fullest
// session goes.
func (s *Service) Note(ctx context.Context, c memd.Caller, session string, req memd.Note) (memd.Written, error) {
	if err := need(c, memd.RoleWrite); err != nil {
		return memd.Written{}, err
	}
	now := s.store.Now()
	m, err := s.noteRow(c, session, req, now)
	if err != nil {
		return memd.Written{}, err
	}
	if fence.Made(m.Summary) {
		return echoed(memd.Transient, m.Kind), nil
	}
	in := s.inspectFields(m, fieldsOf(m)) // a note need not be durable
	if in.changed {
		rehash(m)
	}
	var out memd.Written
	var did *inspected
	err = s.once(ctx, c, &out, func(tx *store.Tx) error {
		if did = in; in.refused != nil {
			return in.refused
		}
		owner, err := tx.SessionOwner(session)
		if err != nil {
			return err
		}
		if owner == "" {
			err = tx.OpenSession(session, c.Identity(), now)
		} else if !Owns(c, owner) {
			err = noSession()
		}
		if err != nil {
			return err
		}
		for rows, err := tx.Rows(memd.Transient); err != nil || rows >= s.budgets.TransientRows; rows-- {
			if err != nil {
				return err
			}
			if err := tx.EvictNote(now); err != nil {
				return err
			}
		}
		if err := tx.Insert(m); err != nil {
			return err
		}
		out = s.shown(*m, now)
		out.Created, out.Warnings = true, in.warnings()
		if err := in.log(tx, s.entry(c, "", m, now)); err != nil {
			return err
		}
		return tx.Audit(s.entry(c, "note", m, now))
	})
	return out, s.settle(c, did, err)
}

// Adopt gives the holders of tokens what an earlier release kept under their names
// alone, where nobody else had the name when it was kept.
func (s *Service) Adopt(ctx context.Context, tokens []guard.Token) error {
	if len(tokens) == 0 {
		return nil
	}
	return s.store.Update(ctx, func(tx *store.Tx) error {
		for _, t := range tokens {
			if t.CreatedAt.IsZero() { // made by hand: nothing tells since when
				continue
			}
			if err := tx.Adopt(t.Name, t.ID, t.CreatedAt); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) noteRow(c memd.Caller, session string, req memd.Note, now memd.Time) (*memd.Memory, error) {
	if err := sessionID(session); err != nil {
		return nil, err
	}
	if err := summary(req.Summary, s.budgets.TransientChars); err != nil {
		return nil, err
	}
	ttl := s.budgets.TransientTTL
	if req.TTL != "" {
		var err error
		if ttl, err = time.ParseDuration(req.TTL); err != nil || ttl < time.Millisecond || ttl > configs.MaxTransientTTL {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "ttl", `ttl must be a duration such as "90s" or "24h", at most %s`, configs.MaxTransientTTL)
		}
	}
	m := &memd.Memory{
		Tier: memd.Transient, Namespace: homeOf(c), Kind: memd.Event, Importance: memd.DefaultImportance,
		Summary: req.Summary, SourceStatus: memd.SourceNone, SessionID: session, Tags: []string{}, Access: []string{},
		CreatedAt: now, UpdatedAt: now, WrittenAt: now, ExpiresAt: memd.At(now.Add(ttl)),
	}
	m.ContentHash = ContentHash(m)
	var err error
	m.ID, err = newID()
	return m, err
}

// homeOf is the namespace of a caller's notes. A note is scoped by its session;
// the namespace only says whose it is.
func homeOf(c memd.Caller) string {
	if c.Sees(memd.DefaultNamespace) || len(c.Namespaces) == 0 {
		return memd.DefaultNamespace
	}
	return c.Namespaces[0]
}

func sessionID(session string) error {
	if !visible(session) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "session_id", "session_id is blank")
	}
	return name("session_id", session)
}

func noSession() error { return memd.Errorf(memd.CodeNotFound, "there is no such session") }

// Notes returns a session's live rows, oldest first. A session that the
// caller did not open is not found.
func (s *Service) Notes(ctx context.Context, c memd.Caller, session string) ([]memd.Memory, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return nil, err
	}
	if err := sessionID(session); err != nil {
		return nil, err
	}
	now := s.store.Now()
	notes := []memd.Memory{}
	err := s.store.View(ctx, func(v *store.View) error {
		owner, err := v.SessionOwner(session)
		if err != nil {
			return err
		}
		if owner == "" || !Owns(c, owner) {
			return noSession()
		}
		found, err := v.Notes(session, now)
		for _, m := range found {
			if !mayKnow(c, &m) { // its token has other namespaces now
				continue
			}
			Present(&m, s.budgets, now)
			m.RawContent = ""
			notes = append(notes, m)
		}
		return err
	})
	return notes, err
}

// EndSession ends a session and deletes its transient rows.
func (s *Service) EndSession(ctx context.Context, c memd.Caller, session string) error {
	if err := need(c, memd.RoleWrite); err != nil {
		return err
	}
	if err := sessionID(session); err != nil {
		return err
	}
	now := s.store.Now()
	return s.store.Update(ctx, func(tx *store.Tx) error {
		owner, err := tx.SessionOwner(session)
		if err != nil {
			return err
		}
		if owner == "" || !Owns(c, owner) {
			return noSession()
		}
		if err := tx.EndSession(session); err != nil {
			return err
		}
		return tx.Audit(store.Entry{At: now, Caller: c.Name, Action: "end_session"})
	})
}

package tiers

import (
	"context"
	"encoding/json"
	"time"

	"memd"
	"memd/store"
)

// Once marks a write that its caller may send again because it did not see the
// answer: a repeat within a day is answered as the first was, and writes
// nothing.
type Once struct {
	Key   string // the caller's; keys of different callers do not meet. Only its hash is kept
	Print string // identifies the request, so that a key is not spent on two
}

// OnceFor is how long a repeat is recognised.
const OnceFor = 24 * time.Hour

type onceKey struct{}

// WithOnce returns a context under which a write happens once.
func WithOnce(ctx context.Context, o Once) context.Context {
	return context.WithValue(ctx, onceKey{}, o)
}

// outcome is what is kept of an answer: never a body.
type outcome struct {
	Created      bool     `json:"created,omitempty"`
	Deduplicated bool     `json:"deduplicated,omitempty"`
	Unchanged    bool     `json:"unchanged,omitempty"`
	DuplicateOf  string   `json:"duplicate_of,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
}

// once runs fn, which sets out, as one write. Under a context of WithOnce it
// looks for an earlier write of the same key first, in the same transaction.
func (s *Service) once(ctx context.Context, c memd.Caller, out *memd.Written, fn func(*store.Tx) error) error {
	o, marked := ctx.Value(onceKey{}).(Once)
	if !marked {
		return s.store.Update(ctx, fn)
	}
	bare := o
	o = s.sealed(bare)
	now := s.store.Now()
	return s.store.Update(ctx, func(tx *store.Tx) error {
		after := memd.At(now.Add(-OnceFor))
		done, found, err := tx.Once(c.Identity(), o.Key, after)
		if err == nil && !found { // an earlier release kept it bare
			done, found, err = tx.Once(c.Identity(), bare.Key, after)
		}
		if err != nil {
			return err
		}
		if found {
			if done.Print == bare.Print {
				done.Print = o.Print
			}
			*out, err = s.again(tx, c, o, done, now)
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		kept, err := json.Marshal(outcome{out.Created, out.Deduplicated, out.Unchanged, out.DuplicateOf, out.Warnings})
		if err != nil {
			return err
		}
		return tx.KeepOnce(store.Once{Caller: c.Identity(), Key: o.Key, Print: o.Print, ID: out.ID, Outcome: string(kept), At: now})
	})
}

// again answers a repeat with the memory as it stands now.
func (s *Service) again(tx *store.Tx, c memd.Caller, o Once, done store.Once, now memd.Time) (memd.Written, error) {
	if done.Print != o.Print {
		return memd.Written{}, memd.Errorf(memd.CodeInvalidRequest, "this Idempotency-Key was used for another request").
			WithHint("use a new key for every request that is not a repeat")
	}
	m, ok, err := tx.Get(done.ID)
	if err != nil {
		return memd.Written{}, err
	}
	if !ok || !maySee(c, &m, now) {
		return memd.Written{}, memd.Errorf(memd.CodeNotFound, "the memory that this Idempotency-Key wrote is gone")
	}
	var was outcome
	if err := json.Unmarshal([]byte(done.Outcome), &was); err != nil {
		return memd.Written{}, err
	}
	out := s.shown(m, now)
	out.Created, out.Deduplicated, out.Unchanged = was.Created, was.Deduplicated, was.Unchanged
	out.DuplicateOf, out.Warnings = was.DuplicateOf, was.Warnings
	return out, nil
}

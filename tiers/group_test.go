package tiers_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"memd"
	"memd/store"
)

// The writer may run the writes of a group again when one of them fails half
// done; each of the others still happens once, and is answered as it happened.
func TestWritesBesideAFailingOne(t *testing.T) {
	h := newHouse(t, nil)
	kept := h.keep("k", "first wording")
	up, cold, gone := h.remember("to be promoted"), h.remember("to be archived"), h.remember("to be forgotten")
	again := h.remember("said again")
	wrong := errors.New("wrong")
	var answers [4]memd.Written
	var errs [6]error
	calls := []func(){
		func() {
			answers[0], errs[0] = h.RememberLongTerm(ctx, ann, longRequest("k", "second wording", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(1) }))
		},
		func() { answers[1], errs[1] = h.Promote(ctx, ann, up.ID, memd.Promote{MemoryKey: "p", Source: agents}) },
		func() { answers[2], errs[2] = h.Archive(ctx, ann, cold.ID) },
		func() { errs[3] = h.Forget(ctx, ann, gone.ID) },
		func() {
			errs[4] = h.store.Update(ctx, func(tx *store.Tx) error {
				if _, err := tx.Delete(memd.Long, kept.ID); err != nil {
					return err
				}
				return wrong
			})
		},
		func() { answers[3], errs[5] = h.Remember(ctx, ann, memd.Remember{Summary: "said again"}) },
	}
	begun, gate := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		h.must(h.store.Update(ctx, func(*store.Tx) error {
			close(begun)
			<-gate
			return nil
		}))
	})
	<-begun
	for i, call := range calls {
		wg.Go(call)
		for h.store.QueueDepth() <= i {
			runtime.Gosched()
		}
	}
	close(gate)
	wg.Wait()
	for i, err := range errs {
		if (i == 4) != errors.Is(err, wrong) || i != 4 && err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if answers[0].Version != 2 || answers[1].Tier != memd.Long || answers[1].Version != 1 || answers[2].Tier != memd.Archive || answers[2].Unchanged ||
		!answers[3].Deduplicated || answers[3].ID != again.ID {
		t.Errorf("answered %+v", answers)
	}
	if got := h.rows(); got != "3 1 0 1" {
		t.Errorf("rows %s", got)
	}
	if _, ok := h.get(kept.ID); !ok {
		t.Error("the delete of the failing write went through")
	}
	h.gone(gone.ID)
	if got := h.shell(`SELECT group_concat(action, ' ') FROM (SELECT action FROM audit ORDER BY seq DESC LIMIT 5)`); got !=
		"remember_again forget archive promote remember_long_term" {
		t.Errorf("the audit log ends in %s", got)
	}
}

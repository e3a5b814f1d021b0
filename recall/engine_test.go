package recall_test

import (
	"context"
	"math"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// Under a real clock took_ms tells parts of a millisecond, and never a
// negative time.
func TestTookIsMeasured(t *testing.T) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: t.TempDir(), Budgets: configs.DefaultBudgets(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := tiers.New(s).Remember(ctx, root, memd.Remember{Summary: "kumquat"}); err != nil {
		t.Fatal(err)
	}
	engine := recall.New(s, nil)
	parts := 0
	for range 20 {
		answer, err := engine.Recall(ctx, root, memd.Query{Query: "kumquat"})
		if err != nil {
			t.Fatal(err)
		}
		if answer.TookMS < 0 {
			t.Errorf("took %v ms", answer.TookMS)
		}
		if answer.TookMS != math.Trunc(answer.TookMS) {
			parts++
		}
	}
	if parts == 0 {
		t.Error("each of 20 recalls took whole milliseconds")
	}
}

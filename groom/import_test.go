package groom_test

import (
	"context"
	"testing"
	"time"

	"memd"
	"memd/groom"
)

// What an import took in nobody judges for a day, however old it is; then it is judged.
func TestImportedIsSpared(t *testing.T) {
	h := newHouse(t)
	old := memd.At(h.clock.Now().Add(-200 * time.Hour))
	rec := memd.Record{Type: memd.MemoryRecord, ID: "01a22e00-0000-7000-8000-00000000000a", Tier: memd.Short, Summary: "an old one", Importance: 1, CreatedAt: old}
	take := func() memd.Outcome {
		out, err := h.tiers.Import(context.Background(), root, []memd.Record{rec}, false)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Outcome
	}
	if got := take(); got != memd.Created {
		t.Fatalf("%s", got)
	}
	h.groom(groom.Options{})
	if m, _ := h.row(rec.ID); m.Tier != memd.Short {
		t.Errorf("in %q on the day it came", m.Tier)
	}
	h.clock.Advance(25 * time.Hour)
	h.groom(groom.Options{})
	if m, _ := h.row(rec.ID); m.Tier != memd.Archive {
		t.Errorf("in %q a day later", m.Tier)
	}
	if got := take(); got != memd.Unchanged { // it went on here
		t.Errorf("taken in again: %s", got)
	}
}

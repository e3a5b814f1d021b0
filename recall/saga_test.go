package recall_test

import (
	"fmt"
	"math/rand/v2"

	"memd"
	"memd/store"
	"memd/tiers"
)

// saga is what happens to the rows of every store that is compared: a script
// without chance, so that ids, times and texts are equal in all of them.
type saga struct {
	rows [segments][]memd.Memory
}

func newSaga() *saga {
	s := &saga{}
	rng := rand.New(rand.NewPCG(1, 1))
	n := 0
	for seg := range s.rows {
		for range segmentRows {
			n++
			s.rows[seg] = append(s.rows[seg], makeRow(n, rng))
		}
	}
	return s
}

// makeRow makes the nth row. Most are short ones that the commonest word alone
// makes match, and alike: more than a recall reads.
func makeRow(n int, rng *rand.Rand) memd.Memory {
	text := fmt.Sprintf("%s deploy row %d", some(rng, han, 1), n)
	if rng.IntN(4) == 0 {
		text = fmt.Sprintf("%s %s %d", some(rng, latin, 3), some(rng, han, 2), n)
	}
	m := short(text, importance(1+rng.IntN(10)), daysAgo(rng.IntN(40)), accessed(rng.IntN(5)))
	switch rng.IntN(8) {
	case 0, 1: // of few keys, so that most have been superseded
		m = long(fmt.Sprintf("topic/%d", rng.IntN(segments*segmentRows/16)), text, importance(1+rng.IntN(10)), daysAgo(rng.IntN(200)),
			from("AGENTS.md#x", memd.SourceOK), ofKind([]memd.Kind{memd.Fact, memd.Rule, memd.Preference}[rng.IntN(3)]))
	case 2:
		m.Tier = memd.Archive
	}
	m.ID = fmt.Sprintf("01900000-0000-7000-8000-%012d", n)
	m.Namespace = places[min(rng.IntN(3), rng.IntN(3))]
	switch rng.IntN(12) {
	case 0:
		m.Tags = labels[:1+rng.IntN(2)]
	case 1:
		m.Access = []string{"secret"}
	case 2:
		m.ExpiresAt = memd.At(start.AddDate(0, 0, rng.IntN(9)-4))
	case 3:
		m.Summary = fmt.Sprintf("deploy content that stands %d times", 1+rng.IntN(30))
	case 4:
		m.RawContent, m.Why = "raw "+text, "because of "+some(rng, latin, 1)
	case 5:
		m.Stale, m.StaleReason = true, memd.StaleSourceChanged
	}
	m.ContentHash = tiers.ContentHash(&m)
	return m
}

// write writes the rows of a segment, with a note of a session.
func (s *saga) write(tx *store.Tx, seg int) error {
	if seg == 0 {
		if err := tx.OpenSession("s", root.Name, start); err != nil {
			return err
		}
	}
	note := made(memd.Memory{Tier: memd.Transient, Kind: memd.Event, SourceStatus: memd.SourceNone, SessionID: "s",
		ID: fmt.Sprintf("01900000-0000-7000-9000-%012d", seg), Summary: fmt.Sprint("deploy note ", seg)}, nil)
	note.ContentHash = tiers.ContentHash(&note)
	if err := tx.Insert(&note); err != nil {
		return err
	}
	for _, m := range s.rows[seg] {
		if m.Tier == memd.Long {
			h, _, err := tx.Head(m.Namespace, m.MemoryKey)
			if err != nil {
				return err
			}
			m.Version = h.Version + 1
			if err := tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID}); err != nil {
				return err
			}
		}
		if err := tx.Insert(&m); err != nil {
			return err
		}
	}
	return nil
}

// change archives most short rows in any order, brings some rows back to
// short, and deletes and patches some.
func (s *saga) change(tx *store.Tx) error {
	rng := rand.New(rand.NewPCG(2, 2))
	var all []memd.Memory
	for _, rows := range s.rows {
		all = append(all, rows...)
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, m := range all {
		lot := rng.IntN(10)
		m, ok, err := tx.Get(m.ID)
		switch {
		case !ok || err != nil || m.Tier == memd.Long && lot > 1:
		case lot == 0:
			_, err = tx.Delete(m.Tier, m.ID)
		case lot == 1:
			m.Importance, m.Tags = 1+rng.IntN(10), labels
			err = tx.UpdateMeta(&m)
		case m.Tier == memd.Archive && lot < 4:
			m.Tier = memd.Short
			err = tx.Move(&m, memd.Archive)
		case m.Tier == memd.Short && lot < 7:
			m.Tier = memd.Archive
			err = tx.Move(&m, memd.Short)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveOwed deletes what is not owed in the segments that are to retire.
func (s *saga) leaveOwed(tx *store.Tx) error {
	for _, rows := range s.rows[:retired] {
		for _, m := range rows {
			m, ok, err := tx.Get(m.ID)
			if err != nil {
				return err
			}
			h, _, err := tx.Head(m.Namespace, m.MemoryKey)
			if err != nil {
				return err
			}
			if ok && h.ID != m.ID {
				if _, err := tx.Delete(m.Tier, m.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

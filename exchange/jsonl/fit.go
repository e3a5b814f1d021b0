package jsonl

import (
	"context"
	"encoding/json"
	"io"

	"memd"
)

// Room is how many more rows each tier may hold; of the long tier how many more keys.
type Room map[memd.Tier]int

// Fit refuses what will not fit, before anything is written. Where the lines are no more
// than there is room for, it asks the store nothing; else it asks what would become of
// each, for what stands already needs no room. It reads in twice, and leaves it at its
// beginning.
func Fit(ctx context.Context, store Store, in io.ReadSeeker, room Room) error {
	coming := Room{}
	r := NewReader(in)
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if line.Wrong == nil {
			coming.add(line.Text)
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil || coming.within(room) == "" {
		return err
	}
	fresh := Room{}
	im := &importing{opts: Options{Dry: true}, report: newReport()}
	send := NewSender(store, true, func(_ int, text []byte, out memd.Imported) error {
		if out.Outcome == memd.Created || out.Code == memd.CodeBudgetExceeded {
			fresh.add(text)
		}
		return nil
	})
	err := im.lines(ctx, NewReader(in), send)
	if err == nil {
		err = send.Flush(ctx)
	}
	if err != nil {
		return err
	}
	if t := fresh.within(room); t != "" {
		return memd.Errorf(memd.CodeBudgetExceeded, "nothing was imported: %d %s are new, and budgets.%s_rows has room for %d",
			fresh[t], rowsOf(t), t, max(0, room[t])).WithHint("raise budgets.%s_rows, import again, and let groom bring the store back", t)
	}
	_, err = in.Seek(0, io.SeekStart)
	return err
}

// rowsOf words what a tier's budget counts.
func rowsOf(t memd.Tier) string {
	if t == memd.Long {
		return "long-term keys"
	}
	return string(t) + " rows"
}

// add counts the row of a line.
func (r Room) add(text []byte) {
	var row struct {
		Type   memd.RecordType `json:"type"`
		Tier   memd.Tier       `json:"tier"`
		ID     string          `json:"id"`
		IsHead bool            `json:"is_head"`
	}
	if json.Unmarshal(text, &row) != nil || row.Type != memd.MemoryRecord || row.Tier == memd.Long && !row.IsHead && row.ID != "" {
		return // it will be refused, or needs no room
	}
	r[row.Tier]++
}

// within returns a tier of which r has more rows than there is room for, "" for none.
func (r Room) within(room Room) memd.Tier {
	for _, t := range memd.AllTiers() {
		if limit, known := room[t]; known && r[t] > max(0, limit) { // it may be beyond it already
			return t
		}
	}
	return ""
}

package jsonl

import (
	"context"
	"encoding/json"
	"io"

	"memd"
)

// Fit refuses what will not fit, before anything is written. Where the lines are no more
// than there is room for, it asks the store nothing; else it asks what would become of
// each, for what stands already needs no room. It reads in twice, and leaves it at its
// beginning.
func Fit(ctx context.Context, store Store, in io.ReadSeeker, room memd.Room) error {
	coming := map[memd.Tier]int{}
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
			count(coming, line.Text)
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil || beyond(coming, room) == "" {
		return err
	}
	fresh := map[memd.Tier]int{}
	im := &importing{opts: Options{Dry: true}, report: newReport()}
	send := NewSender(store, true, func(_ int, text []byte, out memd.Imported) error {
		if out.Outcome == memd.Created || out.Code == memd.CodeBudgetExceeded {
			count(fresh, text)
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
	if t := beyond(fresh, room); t != "" {
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

// count counts the row of a line.
func count(rows map[memd.Tier]int, text []byte) {
	var row struct {
		Type   memd.RecordType `json:"type"`
		Tier   memd.Tier       `json:"tier"`
		ID     string          `json:"id"`
		IsHead bool            `json:"is_head"`
	}
	if json.Unmarshal(text, &row) != nil || row.Type != memd.MemoryRecord || row.Tier == memd.Long && !row.IsHead && row.ID != "" {
		return // it will be refused, or needs no room
	}
	rows[row.Tier]++
}

// beyond returns a tier of which there are more rows than there is room for, "" for none.
func beyond(rows map[memd.Tier]int, room memd.Room) memd.Tier {
	for _, t := range memd.AllTiers() {
		if limit, known := room[t]; known && rows[t] > max(0, limit) { // it may be beyond it already
			return t
		}
	}
	return ""
}

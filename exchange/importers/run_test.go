package importers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/exchange/importers"
	"memd/exchange/importers/claude"
	"memd/exchange/importers/engram"
	"memd/exchange/importers/graph"
	"memd/exchange/importers/transcript"
	"memd/guard/confine"
	"memd/internal/memtest"
	"memd/store"
	"memd/tiers"
)

// door is a real store behind its ordinary doors.
type door struct {
	*tiers.Service
	set    *store.Set
	clock  *memtest.Clock
	limits memd.Room
	caller memd.Caller
	writes int
}

func newDoor(t testing.TB, edit func(*configs.Budgets)) *door {
	t.Helper()
	d := &door{clock: memtest.NewClock(), caller: memd.LocalAdmin()}
	d.set = memtest.Store(t, "", d.clock, func(b *configs.Budgets) {
		if edit != nil {
			edit(b)
		}
		d.limits = memd.Room{memd.Long: b.LongRows, memd.Short: b.ShortRows}
	})
	d.Service = tiers.New(d.set)
	return d
}

func (d *door) Head(ctx context.Context, namespace, key string) (memd.Memory, error) {
	return d.Service.Head(ctx, d.caller, namespace, key)
}

func (d *door) Get(ctx context.Context, id string) (memd.Memory, error) {
	return d.Service.Get(ctx, d.caller, id)
}

func (d *door) Versions(ctx context.Context, namespace, key string) ([]memd.Memory, error) {
	return d.Service.Versions(ctx, d.caller, namespace, key)
}

func (d *door) Gone(ctx context.Context, namespace string) (map[string]memd.Fate, error) {
	page, err := d.Service.Gone(ctx, d.caller, namespace, "")
	return page.Fates(), err
}

func (d *door) RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error) {
	d.writes++
	return d.Service.RememberLongTerm(ctx, d.caller, req)
}

func (d *door) Import(ctx context.Context, records []json.RawMessage, dry bool) ([]memd.Imported, error) {
	rows := make([]memd.Record, len(records))
	for i, text := range records {
		if err := json.Unmarshal(text, &rows[i]); err != nil {
			return nil, err
		}
	}
	return d.Service.Import(ctx, d.caller, rows, dry)
}

func (d *door) Room(ctx context.Context) (memd.Room, error) {
	st, err := d.set.Stats(ctx)
	room := memd.Room{memd.Long: d.limits[memd.Long] - st.Heads, memd.Short: d.limits[memd.Short]}
	for _, tier := range st.Tiers {
		if tier.Tier == memd.Short {
			room[memd.Short] -= tier.Rows
		}
	}
	return room, err
}

// run imports, and returns the counts as they are shown.
func (d *door) run(t testing.TB, items importers.Items) importers.Report {
	t.Helper()
	report, err := importers.Run(t.Context(), d, items, importers.Options{Now: memd.At(d.clock.Now())})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func want(t testing.TB, r importers.Report, created, updated, unchanged, conflict, refused int) {
	t.Helper()
	if [5]int{r.Created, r.Updated, r.Unchanged, r.Conflict, r.Refused} != [5]int{created, updated, unchanged, conflict, refused} {
		t.Fatalf("%d created, %d updated, %d unchanged, %d in conflict, %d refused: %+v", r.Created, r.Updated, r.Unchanged, r.Conflict, r.Refused, r.Entries)
	}
}

// dated is the date of the test's files.
var dated = memd.At(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))

func origin(file string) importers.Origin {
	return importers.Origin{File: file, Source: "./" + file, Date: dated}
}

func graphOf(text string) importers.Items {
	return graph.Read(strings.NewReader(text), origin("memory.json"))
}

func chatOf(text string) importers.Items {
	return transcript.Read(strings.NewReader(text), transcript.Options{Origin: origin("chat.md")})
}

func (d *door) rows(t testing.TB, tier memd.Tier) []memd.Memory {
	t.Helper()
	page, err := d.List(t.Context(), d.caller, memd.List{Tier: tier, Namespace: "*", Limit: 200, IncludeRaw: true})
	if err != nil {
		t.Fatal(err)
	}
	return page.Memories
}

const ada = `{"type":"entity","name":"Ada","entityType":"person","observations":["leads the port"]}` + "\n"

// Three imports are one, whatever they are of, and what they bring is of the file's day
// and found by a search.
func TestThreeImportsAreOne(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"MEMORY.md": "- [a](a.md) — who\n\n## Build\n\nmake dock\n", "a.md": "---\nname: who\nmetadata:\n  type: user\n---\nharbour master\n", "b.md": "berth 4 is shallow\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, dated.Time, dated.Time); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := confine.Open(dir, ".md")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for name, c := range map[string]struct {
		items       importers.Items
		long, short int
	}{
		"claude": {claude.Read(folder, claude.Options{Origin: importers.Origin{File: dir, Source: ".claude/memory"}, Project: "project/dock"}), 3, 0},
		"graph":  {graphOf(ada + `{"type":"relation","from":"Ada","to":"Ada","relationType":"knows"}`), 1, 0},
		"engram": {engram.Read(strings.NewReader(`{"sessions":[{"id":"s","project":"p","directory":"","started_at":"2026-03-01 10:00:00","summary":"docked"}],"observations":[{"id":1,"sync_id":"x","session_id":"s","type":"decision","title":"rail","content":"by rail","project":"p","created_at":"2026-03-01 10:00:00","updated_at":"2026-03-01 10:00:00"}],"prompts":[{"id":1,"session_id":"s","content":"where?","created_at":"2026-03-01 10:00:00"}]}`),
			engram.Options{Origin: origin("engram.json")}), 1, 2},
		"chat": {chatOf("User: where?\nAssistant: north gate\nUser: where?\nAssistant: I said so\n"), 0, 2},
	} {
		d := newDoor(t, nil)
		want(t, d.run(t, c.items), c.long+c.short, 0, 0, 0, 0)
		long, short := d.rows(t, memd.Long), d.rows(t, memd.Short)
		if len(long) != c.long || len(short) != c.short {
			t.Fatalf("%s: %d long, %d short", name, len(long), len(short))
		}
		for _, m := range long {
			if !m.VerifiedAt.Equal(dated.Time) || m.Stale == m.Kind.Personal() {
				t.Errorf("%s: verified at %v, stale %v", name, m.VerifiedAt, m.Stale)
			}
		}
		for _, m := range short {
			if !m.CreatedAt.Equal(dated.Time) {
				t.Errorf("%s: created at %v", name, m.CreatedAt)
			}
		}
		d.clock.Advance(48 * time.Hour)
		d.writes = 0
		for range 2 {
			want(t, d.run(t, c.items), 0, 0, c.long+c.short, 0, 0)
		}
		if again := d.rows(t, memd.Long); d.writes > 0 || len(again) != c.long || c.long > 0 && !again[0].UpdatedAt.Equal(long[0].UpdatedAt.Time) {
			t.Errorf("%s: the second import wrote", name)
		}
	}
}

// What was forgotten does not come back, and what was archived is not doubled.
func TestForgottenStaysForgotten(t *testing.T) {
	d := newDoor(t, nil)
	const chat = "User: where?\nAssistant: north gate\nUser: when?\nAssistant: at nine\n"
	want(t, d.run(t, graphOf(ada)), 1, 0, 0, 0, 0)
	want(t, d.run(t, chatOf(chat)), 2, 0, 0, 0, 0)
	if err := d.Forget(t.Context(), d.caller, d.rows(t, memd.Long)[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.rows(t, memd.Short) {
		var err error
		if strings.Contains(m.Summary, "nine") {
			err = d.Forget(t.Context(), d.caller, m.ID)
		} else {
			_, err = d.Archive(t.Context(), d.caller, m.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		r := d.run(t, graphOf(ada))
		want(t, r, 0, 0, 1, 0, 0)
		if len(r.Entries) != 1 || r.Entries[0].Reason != "the memory is forgotten, and stays so" || r.Failed() != nil {
			t.Errorf("%+v", r.Entries)
		}
		want(t, d.run(t, chatOf(chat)), 0, 0, 2, 0, 0)
	}
	// Nor does the exchange that was forgotten come back with what was said since.
	want(t, d.run(t, chatOf(chat+"Assistant: sharp\n")), 0, 0, 2, 0, 0)
	if n := len(d.rows(t, memd.Long)); n != 0 {
		t.Errorf("%d long rows", n)
	}
}

// A file that has changed makes a new version; a memory that has changed since holds
// against the file that has not, and against no file that has.
func TestChanges(t *testing.T) {
	d := newDoor(t, nil)
	want(t, d.run(t, graphOf(ada)), 1, 0, 0, 0, 0)
	moved := strings.Replace(ada, "leads", "led", 1)
	want(t, d.run(t, graphOf(moved)), 0, 1, 0, 0, 0)
	want(t, d.run(t, graphOf(moved)), 0, 0, 1, 0, 0)
	head := d.rows(t, memd.Long)[0]
	if head.Version != 2 || !strings.Contains(head.Summary, "led") {
		t.Fatalf("%+v", head)
	}
	d.clock.Advance(time.Hour)
	if _, err := d.RememberLongTerm(t.Context(), memd.RememberLongTerm{MemoryKey: head.MemoryKey, Summary: "Ada has left", Source: head.Source}); err != nil {
		t.Fatal(err)
	}
	r := d.run(t, graphOf(moved))
	want(t, r, 0, 0, 1, 0, 0)
	if len(r.Entries) != 1 || !strings.Contains(r.Entries[0].Reason, "changed since") || d.rows(t, memd.Long)[0].Summary != "Ada has left" {
		t.Errorf("%+v", r.Entries)
	}
	want(t, d.run(t, graphOf(strings.Replace(ada, "leads", "owns", 1))), 0, 1, 0, 0, 0)
}

// A key of another source is not taken over, nor a key twice by one file.
func TestConflicts(t *testing.T) {
	d := newDoor(t, nil)
	if _, err := d.RememberLongTerm(t.Context(), memd.RememberLongTerm{MemoryKey: "entity/Ada", Summary: "Ada writes tests", Source: "AGENTS.md#ada"}); err != nil {
		t.Fatal(err)
	}
	r := d.run(t, graphOf(ada+ada))
	want(t, r, 0, 0, 0, 1, 1)
	if r.Entries[0].Code != memd.CodeVersionConflict || r.Entries[0].Line != 1 || r.Entries[1].Line != 2 || memd.CodeOf(r.Failed()) != memd.CodeStoreFailed {
		t.Errorf("%+v", r.Entries)
	}
	if rows := d.rows(t, memd.Long); len(rows) != 1 || rows[0].Summary != "Ada writes tests" {
		t.Errorf("%+v", rows)
	}
}

// An exchange that has gone on since the last import is another row beside it, once.
func TestExchangesGoOn(t *testing.T) {
	d := newDoor(t, nil)
	const begun = "User: where?\nAssistant: I look.\n"
	want(t, d.run(t, chatOf(begun)), 1, 0, 0, 0, 0)
	want(t, d.run(t, chatOf(begun+"Assistant: north gate\n")), 1, 0, 0, 0, 0)
	want(t, d.run(t, chatOf(begun+"Assistant: north gate\n")), 0, 0, 1, 0, 0)
	if n := len(d.rows(t, memd.Short)); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// A secret is left out or refused by the guards, told by its line; the others go on, and
// the next import finds what the first has written.
func TestSecrets(t *testing.T) {
	d := newDoor(t, nil)
	token := "ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT"
	named := `{"type":"entity","name":"` + token + `","entityType":"t","observations":[]}` + "\n"
	file := ada + `{"type":"entity","name":"keys","entityType":"t","observations":["the token is ` + token + ` for the port"]}` + "\n" + named + named
	r := d.run(t, graphOf(file))
	if r.Created == 0 || r.Refused == 0 || len(r.Entries) != 3 || r.Entries[0].Line != 2 || r.Entries[1].Line != 3 || r.Entries[1].Code != memd.CodeSecretDetected {
		t.Fatalf("%+v", r)
	}
	first := r
	chat := "User: the token is " + token + "\nAssistant: noted\nUser: thanks\nAssistant: welcome\n"
	talked := d.run(t, chatOf(chat))
	again := d.run(t, graphOf(file))
	want(t, again, 0, 0, first.Created, 0, first.Refused)
	want(t, d.run(t, chatOf(chat)), 0, 0, talked.Created, 0, talked.Refused)
	for _, m := range append(d.rows(t, memd.Long), d.rows(t, memd.Short)...) {
		if strings.Contains(m.Summary+m.RawContent, token) {
			t.Error("a secret was stored")
		}
	}
	text, err := json.Marshal([]importers.Report{first, talked, again})
	if err != nil || strings.Contains(string(text), token) {
		t.Error("a report holds a secret")
	}
}

// What will not fit is refused before anything is written, and what stands already needs
// no room.
func TestNoRoom(t *testing.T) {
	d := newDoor(t, func(b *configs.Budgets) { b.LongRows, b.ShortRows = 2, 2 })
	entity := func(name string) string {
		return `{"type":"entity","name":"` + name + `","entityType":"t","observations":["x"]}` + "\n"
	}
	want(t, d.run(t, graphOf(entity("a")+entity("b"))), 2, 0, 0, 0, 0)
	want(t, d.run(t, graphOf(entity("a")+entity("b"))), 0, 0, 2, 0, 0)
	_, err := importers.Run(t.Context(), d, graphOf(entity("a")+entity("c")), importers.Options{Now: memd.At(d.clock.Now())})
	if memd.CodeOf(err) != memd.CodeBudgetExceeded || len(d.rows(t, memd.Long)) != 2 {
		t.Errorf("%v", err)
	}
	_, err = importers.Run(t.Context(), d, chatOf(strings.Repeat("User: a\nAssistant: b\n", 1)+"User: c\nAssistant: d\nUser: e\nAssistant: f\n"), importers.Options{Now: memd.At(d.clock.Now())})
	if memd.CodeOf(err) != memd.CodeBudgetExceeded || len(d.rows(t, memd.Short)) != 0 {
		t.Errorf("%v", err)
	}
}

// A dry run writes nothing and says the same.
func TestDryRun(t *testing.T) {
	d := newDoor(t, nil)
	for _, items := range []importers.Items{graphOf(ada), chatOf("User: a\nAssistant: b\n")} {
		r, err := importers.Run(t.Context(), d, items, importers.Options{DryRun: true, Now: memd.At(d.clock.Now())})
		if err != nil || !r.DryRun {
			t.Fatal(err)
		}
		want(t, r, 1, 0, 0, 0, 0)
	}
	if len(d.rows(t, memd.Long))+len(d.rows(t, memd.Short)) > 0 {
		t.Error("it wrote")
	}
}

// Knowledge that nobody dates is not taken for verified today; an event is, as one of which
// nobody knows more. What is dated ahead is of today.
func TestDates(t *testing.T) {
	d := newDoor(t, nil)
	undated := importers.Origin{File: "stdin", Source: "./memory.json"}
	want(t, d.run(t, graph.Read(strings.NewReader(ada), undated)), 0, 0, 0, 0, 1)
	want(t, d.run(t, transcript.Read(strings.NewReader("User: a"), transcript.Options{Origin: undated})), 1, 0, 0, 0, 0)
	d.clock.Advance(time.Hour)
	want(t, d.run(t, transcript.Read(strings.NewReader("User: a"), transcript.Options{Origin: undated})), 0, 0, 1, 0, 0)
	undated.Date = memd.At(d.clock.Now().Add(24 * time.Hour))
	want(t, d.run(t, graph.Read(strings.NewReader(ada), undated)), 1, 0, 0, 0, 0)
	if at := d.rows(t, memd.Long)[0].VerifiedAt; !at.Equal(d.clock.Now()) {
		t.Errorf("verified at %v", at)
	}
}

// Relative dates are of the day of what tells them, not of the import, and a file that
// was only touched since says nothing new.
func TestRelativeDates(t *testing.T) {
	d := newDoor(t, nil)
	dir := t.TempDir()
	path := filepath.Join(dir, "freeze.md")
	if err := os.WriteFile(path, []byte("---\nname: freeze\ndescription: no paint after tomorrow\ntype: project\n---\nNo paint after tomorrow.\n**Why:** the fair\n**How to apply:** refuse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := confine.Open(dir, ".md")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	o := importers.Options{Now: memd.At(d.clock.Now()), Zone: time.UTC}
	note := claude.Read(folder, claude.Options{Project: "project/dock"})
	chat := chatOf("[2026-03-01 10:00] User: what is due tomorrow?\n")
	undated := transcript.Read(strings.NewReader("User: and today?"), transcript.Options{Origin: origin("b.md")})
	for i, at := range []time.Time{dated.Time, dated.Time, dated.Add(48 * time.Hour)} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		for _, items := range []importers.Items{note, chat, undated} {
			r, err := importers.Run(t.Context(), d, items, o)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want(t, r, 1, 0, 0, 0, 0)
			} else {
				want(t, r, 0, 0, 1, 0, 0)
			}
		}
	}
	want(t, d.run(t, chat), 0, 0, 1, 0, 0) // without a zone
	if m := d.rows(t, memd.Long)[0]; !strings.Contains(m.Summary, "tomorrow (2026-03-02)") || !strings.Contains(m.RawContent, "tomorrow (2026-03-02)") {
		t.Errorf("%q, %q", m.Summary, m.RawContent)
	}
	for _, m := range d.rows(t, memd.Short) {
		if strings.Contains(m.Summary, "due") != strings.Contains(m.Summary, "tomorrow (2026-03-02)") || strings.Contains(m.Summary, "today (") {
			t.Errorf("%q", m.Summary)
		}
	}
}

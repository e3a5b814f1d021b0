package tiers_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/tiers"
)

// Made-up secrets, with a joint so that scanners of hosts do not ring, and ways in
// which they are written.
var (
	aToken = "ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT"
	hidden = map[string]string{
		"plain":     "the bot uses " + aToken + " for pushes",
		"two lines": "the bot uses\n" + aToken[:20] + "\n" + aToken[20:] + "\nfor pushes",
		"wide":      "the bot uses " + wide(aToken) + " for pushes",
		"assigned":  "db.pass" + "word = Tiger#2024xQ",
		"chinese":   "测试库密" + "码：Tiger#2024xQ，别外传",
		"address":   "postgres://app:Tiger2024" + "xQz@db.internal:5432/app",
	}
)

// wide writes ASCII in full-width characters.
func wide(text string) string {
	return strings.Map(func(r rune) rune { return r + 0xFEE0 }, text)
}

// pieces are parts of the made-up secrets that no file may hold.
var pieces = []string{aToken[:20], aToken[20:], wide(aToken)[:30], "Tiger#2024", "Tiger2024", "4539 1488", "45391488"}

// door is a way in with a field of its own to put a text into.
type door struct {
	tier  memd.Tier
	write func(h *house, text string) (memd.Written, error)
	field string
	fixed bool // a redaction refuses
}

func doors() map[string]door {
	short := func(set func(*memd.Remember, string)) func(*house, string) (memd.Written, error) {
		return func(h *house, text string) (memd.Written, error) {
			req := memd.Remember{Summary: "the bot pushes"}
			set(&req, text)
			return h.Remember(ctx, ann, req)
		}
	}
	long := func(set func(*memd.RememberLongTerm, string)) func(*house, string) (memd.Written, error) {
		return func(h *house, text string) (memd.Written, error) {
			req := longRequest("bot", "the bot pushes")
			set(&req, text)
			return h.RememberLongTerm(ctx, ann, req)
		}
	}
	promote := func(set func(*memd.Promote, string)) func(*house, string) (memd.Written, error) {
		return func(h *house, text string) (memd.Written, error) {
			req := memd.Promote{MemoryKey: "bot", Source: agents}
			set(&req, text)
			return h.Promote(ctx, ann, h.remember("the bot pushes at night").ID, req)
		}
	}
	patch := func(id func(h *house) string, set func(*memd.Patch, string)) func(*house, string) (memd.Written, error) {
		return func(h *house, text string) (memd.Written, error) {
			var p memd.Patch
			set(&p, text)
			return h.Patch(ctx, ann, id(h), p)
		}
	}
	aShort := func(h *house) string { return h.remember("the bot pushes").ID }
	aLong := func(h *house) string { return h.keep("bot", "the bot pushes").ID }
	note := func(h *house, text string) (memd.Written, error) {
		return h.Note(ctx, ann, "s1", memd.Note{Summary: text})
	}
	return map[string]door{
		"short summary":   {memd.Short, short(func(r *memd.Remember, t string) { r.Summary = t }), "summary", false},
		"short raw":       {memd.Short, short(func(r *memd.Remember, t string) { r.RawContent = t }), "raw_content", false},
		"long summary":    {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.Summary = t }), "summary", false},
		"long raw":        {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.RawContent = t }), "raw_content", false},
		"long why":        {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.Why = t }), "why", false},
		"long how":        {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.HowToApply = t }), "how_to_apply", false},
		"note":            {memd.Transient, note, "summary", false},
		"promote why":     {memd.Long, promote(func(r *memd.Promote, t string) { r.Why = t }), "why", false},
		"short tag":       {memd.Short, short(func(r *memd.Remember, t string) { r.Tags = []string{"ci", t} }), "tags", false},
		"short source":    {memd.Short, short(func(r *memd.Remember, t string) { r.Source = "https://ci.internal/" + t }), "source", false},
		"short session":   {memd.Short, short(func(r *memd.Remember, t string) { r.SessionID = t }), "session_id", true},
		"short agent":     {memd.Short, short(func(r *memd.Remember, t string) { r.Agent = t }), "agent", true},
		"long tag":        {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.Tags = []string{t} }), "tags", false},
		"long source":     {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.Source = "https://ci.internal/" + t }), "source", true},
		"long key":        {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.MemoryKey = "ci/" + t }), "memory_key", true},
		"long owner":      {memd.Long, long(func(r *memd.RememberLongTerm, t string) { r.Owner = t }), "owner", true},
		"promote key":     {memd.Long, promote(func(r *memd.Promote, t string) { r.MemoryKey = t }), "memory_key", true},
		"promote tag":     {memd.Long, promote(func(r *memd.Promote, t string) { r.Tags = []string{t} }), "tags", false},
		"patch short tag": {memd.Short, patch(aShort, func(p *memd.Patch, t string) { p.Tags = memd.Some([]string{t}) }), "tags", false},
		"patch long tag":  {memd.Long, patch(aLong, func(p *memd.Patch, t string) { p.Tags = memd.Some([]string{t}) }), "tags", false},
		"patch owner":     {memd.Long, patch(aLong, func(p *memd.Patch, t string) { p.Owner = memd.Some(t) }), "owner", true},
	}
}

// label reports whether a door takes words of one line alone.
func (d door) label() bool {
	return !slices.Contains([]string{"summary", "raw_content", "why", "how_to_apply"}, d.field)
}

// with is the guard with one mode for secrets everywhere.
func with(mode string) configs.Guard {
	g := configs.DefaultGuard()
	g.Secrets = configs.GuardSecrets{Long: mode, Team: mode, Short: mode, Transient: mode}
	return g
}

// Every way in, each field and mode: what is blocked is not written, what is redacted
// is written without it, and nothing of the value comes back or stays.
func TestSecretsAtEveryDoor(t *testing.T) {
	for name, d := range doors() {
		texts := hidden
		if d.label() {
			texts = map[string]string{"plain": aToken}
		}
		for _, mode := range []string{configs.GuardBlock, configs.GuardRedact, configs.GuardOff} {
			t.Run(name+" "+mode, func(t *testing.T) {
				h := newHouse(t, nil)
				plain := h.Service
				for how, text := range texts {
					h.Service = plain.WithGuard(with(mode))
					w, err := d.write(h, text)
					switch {
					case mode == configs.GuardOff:
						if err != nil || len(w.Warnings) > 0 && strings.Contains(fmt.Sprint(w.Warnings), "redacted") {
							t.Errorf("%s: %v, %v", how, w.Warnings, err)
						}
						return // its bytes stay
					case mode == configs.GuardBlock || d.fixed:
						h.blocked(how, err, d.field)
					case err != nil:
						t.Errorf("%s: %v", how, err)
					default:
						whole := fmt.Sprint(must(h.Get(ctx, admin, w.ID)))
						if !strings.Contains(whole, "[redacted:") || len(w.Warnings) == 0 || !strings.HasPrefix(w.Warnings[0], d.field+": [redacted:") {
							t.Errorf("%s: warnings %q of %s", how, w.Warnings, whole)
						}
						h.clean(how, whole+fmt.Sprint(w.Warnings))
					}
				}
				h.clean("the folder", h.bytes())
			})
		}
	}
}

// blocked fails unless a guard refused for a field.
func (h *house) blocked(how string, err error, field string) {
	h.t.Helper()
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || e.Code != memd.CodeSecretDetected || e.Field != field || !slices.Contains(e.Fields, field) || len(e.Rules) == 0 || e.Hint == "" {
		h.t.Errorf("%s: %+v", how, err)
		return
	}
	h.clean(how, fmt.Sprintf("%+v", *e))
}

// clean fails if a text holds a piece of a made-up secret.
func (h *house) clean(what, text string) {
	h.t.Helper()
	for _, piece := range pieces {
		if strings.Contains(text, piece) {
			h.t.Errorf("%s holds %q", what, piece)
		}
	}
}

// bytes are those of every file in the folder.
func (h *house) bytes() string { return bytesBelow(h.t, h.store.Dir()) }

func bytesBelow(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// The modes of the defaults: the long tier and teams are closed, the others redact.
func TestSecretsByTier(t *testing.T) {
	h := newHouse(t, nil)
	text := hidden["plain"]
	_, err := h.RememberLongTerm(ctx, ann, longRequest("k", text))
	h.blocked("long", err, "summary")
	_, err = h.Remember(ctx, ann, shortRequest(text, func(r *memd.Remember) { r.Namespace = "team/core" }))
	h.blocked("team", err, "summary")
	want := "the bot uses [redacted:github-pat] for pushes"
	if w := h.remember(text); w.Summary != want {
		t.Errorf("short: %q", w.Summary)
	}
	if w := must(h.Note(ctx, ann, "s", memd.Note{Summary: text})); w.Summary != want {
		t.Errorf("note: %q", w.Summary)
	}
	loose := configs.DefaultGuard()
	loose.Secrets.Team, loose.Secrets.Short = configs.GuardOff, configs.GuardRedact
	h.Service = h.WithGuard(loose)
	if w := h.remember("so "+text, func(r *memd.Remember) { r.Namespace = "team/core" }); w.Summary != "so "+want {
		t.Errorf("a team is no looser than its tier: %q", w.Summary)
	}
}

// Redacted text is what counts: two secrets make no two memories, a redacted text
// written again is the same, and an idempotent repeat is answered as the first.
func TestRedactedIsWhatCounts(t *testing.T) {
	h := newHouse(t, nil)
	first := h.remember(hidden["plain"])
	other := strings.Replace(hidden["plain"], "q7Xw2", "Zx8Kd", 1)
	for name, text := range map[string]string{"another secret": other, "the same": hidden["plain"], "redacted": first.Summary} {
		w := h.remember(text)
		if w.ID != first.ID || !w.Deduplicated || (len(w.Warnings) == 0) != (name == "redacted") {
			t.Errorf("%s: %+v", name, w)
		}
	}
	list, err := guard.OpenAllowed(h.store.Dir(), nil)
	h.must(err)
	h.Service = h.WithAllowed(list)
	once := func(print string) (memd.Written, error) {
		return h.Remember(tiers.WithOnce(ctx, tiers.Once{Key: "k", Print: print}), ann, shortRequest("once "+hidden["assigned"]))
	}
	one := must(once("p"))
	two := must(once("p"))
	if one.ID != two.ID || !one.Created || !two.Created || fmt.Sprint(one.Warnings) != fmt.Sprint(two.Warnings) || two.Summary != one.Summary {
		t.Errorf("%+v\nthen %+v", one, two)
	}
	if n := h.GuardCounts().Redacted["password"]; n != 1 {
		t.Errorf("a repeat counts: %d", n)
	}
	note := must(h.Note(ctx, ann, "s1", memd.Note{Summary: hidden["plain"]}))
	if want := tiers.ContentHash(&note.Memory); note.ContentHash != want {
		t.Errorf("a note's hash is %s, want %s", note.ContentHash, want)
	}
	if _, err := once("q"); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("another request under the key: %v", err)
	}
	if open := h.shell(`SELECT count(*) FROM once WHERE print = 'p' OR key = 'k'`); open != "0" {
		t.Errorf("the key or the print of a request stands in the open %s times", open)
	}
	h.clean("the folder", h.bytes())
}

// What was written once before keys and prints were sealed is still answered as it was.
func TestOnceOfAnEarlierRelease(t *testing.T) {
	h := newHouse(t, nil)
	write := func() (memd.Written, error) {
		return h.Remember(tiers.WithOnce(ctx, tiers.Once{Key: "k", Print: "p"}), ann, shortRequest("written once"))
	}
	before := must(write())
	list, err := guard.OpenAllowed(h.store.Dir(), nil)
	h.must(err)
	h.Service = h.WithAllowed(list)
	if again := must(write()); again.ID != before.ID || !again.Created {
		t.Errorf("a repeat is answered %+v", again)
	}
	if rows := h.shell(`SELECT count(*) FROM once`); rows != "1" {
		t.Errorf("%s keys are kept, want the one of the earlier release", rows)
	}
}

// A stored text is looked at again where a row is promoted: it may be older than the
// guard.
func TestPromoteLooksAtTheRow(t *testing.T) {
	h := newHouse(t, nil)
	guarded := h.Service
	h.Service = h.WithGuard(configs.Guard{})
	old := h.remember(hidden["plain"], func(r *memd.Remember) { r.RawContent = hidden["assigned"] })
	archived := h.remember(hidden["chinese"])
	h.must(second(h.Archive(ctx, ann, archived.ID)))
	h.Service = guarded
	_, err := h.Promote(ctx, ann, old.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.blocked("to long", err, "summary")
	if m, _ := h.get(old.ID); m.Tier != memd.Short {
		t.Errorf("refused, and yet in %s", m.Tier)
	}
	w := must(h.Promote(ctx, ann, archived.ID, memd.Promote{To: memd.Short}))
	if w.Tier != memd.Short || strings.Contains(w.Summary, "Tiger") || len(w.Warnings) != 1 {
		t.Errorf("to short: %+v", w)
	}
	h.Service = h.WithGuard(with(configs.GuardRedact))
	w = must(h.Promote(ctx, ann, old.ID, memd.Promote{MemoryKey: "k", Source: agents}))
	m := must(h.Get(ctx, admin, w.ID))
	h.clean("the promoted row", fmt.Sprint(m))
	if m.Tier != memd.Long || !strings.Contains(m.RawContent, "[redacted:") {
		t.Errorf("promoted %+v", m)
	}
}

// What a person let pass is written, by whichever list, and logged as such.
func TestAllowedSecrets(t *testing.T) {
	h := newHouse(t, nil)
	list, err := guard.OpenAllowed(h.store.Dir(), nil)
	h.must(err)
	plain := h.WithAllowed(list)
	h.Service = plain
	write := func() (memd.Written, error) { return h.RememberLongTerm(ctx, ann, longRequest("k", hidden["plain"])) }
	_, err = write()
	h.blocked("before", err, "summary")
	e, _ := errors.AsType[*memd.Error](err)
	_, print, _ := strings.Cut(e.Hint, "memd guard allow ")
	print, _, _ = strings.Cut(print, " ")
	h.must(second(list.Allow(print, "the made-up token of the manual")))
	if w := must(write()); len(w.Warnings) != 0 || w.Summary != hidden["plain"] {
		t.Errorf("by its fingerprint: %+v", w)
	}
	h.must(list.Revoke(print))
	_, err = h.RememberLongTerm(ctx, ann, longRequest("other", hidden["plain"]))
	h.blocked("revoked", err, "summary")

	for name, allow := range map[string]configs.GuardAllow{
		"value":  {Values: []string{"ghp_[0-9A-Za-z]+"}},
		"source": {Sources: []string{`AGENTS\.md.*`}},
	} {
		g := configs.DefaultGuard()
		g.Allow = allow
		h.Service = plain.WithGuard(g)
		if w, err := write(); err != nil || len(w.Warnings) != 0 {
			t.Errorf("%s: %v, %v", name, w.Warnings, err)
		}
	}
	h.must(h.store.Flush(ctx))
	if got := h.shell(`SELECT action || ' ' || field || ' ' || replace(detail, '` + print + `', 'PRINT') || ' ' || count FROM audit WHERE action LIKE 'guard%' ORDER BY 1`); got !=
		"guard_allow summary github-pat PRINT 1\nguard_allow summary github-pat PRINT 1\nguard_allow summary github-pat PRINT 1\nguard_block summary github-pat PRINT 2" {
		t.Errorf("the log: %s", got)
	}
	if c := h.GuardCounts(); c.Allowed != 3 || c.Blocked["github-pat"] != 2 {
		t.Errorf("counted %+v", c)
	}
}

// What is logged of redactions names the row, the rule and the field.
func TestGuardLogs(t *testing.T) {
	h := newHouse(t, nil)
	w := h.remember(hidden["plain"]+"\n"+hidden["assigned"], func(r *memd.Remember) {
		r.RawContent = "the card is 4539 1488 0343 6467"
		r.Tags = []string{aToken}
	})
	got := h.shell(`SELECT caller, action, field, substr(detail, 1, instr(detail || ' ', ' ') - 1), length(detail), memory_id = '` + w.ID + `' FROM audit WHERE action LIKE 'guard%' ORDER BY seq`)
	want := "ann|guard_redact|summary|github-pat|43|1\nann|guard_redact|summary|password|41|1\nann|guard_redact|tags|github-pat|43|1\nann|guard_redact|raw_content|card|4|1"
	if got != want {
		t.Errorf("the log says\n%s\nwant\n%s", got, want)
	}
	c := h.GuardCounts()
	if c.Redacted["github-pat"] != 2 || c.Redacted["password"] != 1 || c.Redacted["card"] != 1 || len(c.Blocked) != 0 || c.Allowed != 0 {
		t.Errorf("counted %+v", c)
	}
	_, err := h.RememberLongTerm(ctx, ann, longRequest("k", hidden["plain"]))
	h.blocked("long", err, "summary")
	if c := h.GuardCounts(); c.Blocked["github-pat"] != 1 {
		t.Errorf("counted %+v", c)
	}
}

// Many findings are few entries and warnings.
func TestManySecrets(t *testing.T) {
	h := newHouse(t, nil)
	var b strings.Builder
	for n := range 120 {
		fmt.Fprintf(&b, "pass"+"word%d = Tiger#%dxQz\n", n, 10000+n)
	}
	w := h.remember(b.String())
	h.clean("the row", w.Summary)
	if len(w.Warnings) > 25 {
		t.Errorf("%d warnings", len(w.Warnings))
	}
	if got := h.shell(`SELECT count(*), sum(count) FROM audit WHERE action = 'guard_redact'`); got != "50|120" {
		t.Errorf("entries: %s", got)
	}
}

// What only looks like a secret passes every door without a word.
func TestHarmlessAtEveryDoor(t *testing.T) {
	h := newHouse(t, nil)
	for n, text := range []string{
		"fixed in 8f14e45fceea167a5a36dedd4bea2543f2f5b0d6", "see 01900000-0000-7000-8000-000000000001",
		"image sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "src/api/token.go:342 rejects it",
		"the token is rotated weekly, and the password is in the vault", "密码请向管理员索取", "the-very-long-hyphenated-name-of-a-release-branch-2026-11",
		"password = ${DB_PASSWORD}", "order 4012888888881881 was late", "build 20261130021500 took 12 m", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
	} {
		key := fmt.Sprint("k", n)
		long := must(h.RememberLongTerm(ctx, ann, longRequest(key, text, func(r *memd.RememberLongTerm) { r.RawContent, r.Why, r.HowToApply = text+"\n", text, text })))
		short := must(h.Remember(ctx, ann, shortRequest(text+" again", func(r *memd.Remember) { r.SessionID, r.Agent = "sess-7F3a9b2c", "claude-4-5" })))
		note := must(h.Note(ctx, ann, "s-01J9Zk3", memd.Note{Summary: text}))
		for what, w := range map[string]memd.Written{"long": long, "short": short, "note": note} {
			if !strings.Contains(w.Summary, text) {
				t.Errorf("%s: %q became %q", what, text, w.Summary)
			}
			if len(w.Warnings) > 0 && !strings.Contains(fmt.Sprint(w.Warnings), "may hold") {
				t.Errorf("%s: %q: %q", what, text, w.Warnings)
			}
		}
	}
	for _, tag := range []string{"password", "api-token", "team/secrets", "v1.2.3-RC1", "release-2026"} {
		h.must(second(h.Remember(ctx, ann, shortRequest("about "+tag, func(r *memd.Remember) { r.Tags, r.Agent = []string{tag}, "Opus-4x" }))))
	}
}

package tiers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// script is a sequence of calls whose answers must not depend on the databases
// that rows stand in.
type script struct {
	name string
	edit func(*configs.Budgets)
	do   func(h *house, roll func(), say sayer)
}

// sayer notes an answer.
type sayer func(w memd.Written, err error) string

// play runs a script and returns all that was answered, and what can be read
// at the end, with ids replaced by the order of their making.
func play(t *testing.T, s script, rolling bool) string {
	h := newHouse(t, s.edit)
	var told []string
	rolled := 0
	roll := func() {
		h.clock.Advance(time.Minute)
		if rolling {
			if must(h.store.Rollover(ctx)).Rolled {
				rolled++
			}
		}
	}
	s.do(h, roll, func(w memd.Written, err error) string {
		h.clock.Advance(time.Second)
		line := fmt.Sprint(toldOf(w.Memory), w.Created, w.Deduplicated, w.Unchanged, w.DuplicateOf, w.Warnings)
		if e, ok := errors.AsType[*memd.Error](err); ok {
			line = fmt.Sprint(e.Code, " ", e.Message)
			if e.Head != nil {
				line += toldOf(*e.Head)
			}
		}
		told = append(told, line)
		return w.ID
	})
	if rolling && rolled == 0 {
		t.Error("nothing rolled over: the script shows nothing")
	}
	told = append(told, "rows "+h.rows())
	for req := (memd.List{Namespace: "*", Limit: 3, Access: []string{"hr"}}); ; {
		page := must(h.List(ctx, admin, req))
		for _, m := range page.Memories {
			told = append(told, "listed "+toldOf(m))
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	for _, key := range []string{"k", "l"} {
		versions, err := h.Versions(ctx, admin, "", key)
		told = append(told, fmt.Sprint(key, " ", err))
		for _, m := range versions {
			told = append(told, "version "+toldOf(m), "read "+toldOf(must(h.Get(ctx, admin, m.ID))))
		}
	}
	told = append(told, must(h.Manifest(ctx, admin, "", nil))...)
	st := must(h.store.Stats(ctx))
	told = append(told, fmt.Sprint(st.Tiers, st.Heads))
	return numbered(strings.Join(told, "\n"))
}

// toldOf is all of a memory.
func toldOf(m memd.Memory) string { return string(must(json.Marshal(m))) }

// numbered replaces each id by its place among those met.
func numbered(text string) string {
	seen := map[string]string{}
	var out strings.Builder
	for len(text) > 0 {
		if len(text) >= 36 && uuidLike(text[:36]) {
			if seen[text[:36]] == "" {
				seen[text[:36]] = fmt.Sprint("id", len(seen)+1)
			}
			out.WriteString(seen[text[:36]])
			text = text[36:]
			continue
		}
		out.WriteByte(text[0])
		text = text[1:]
	}
	return out.String()
}

func uuidLike(s string) bool {
	for i, c := range []byte(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return false
		}
	}
	return true
}

func weighing(n int) func(*memd.Remember) { return func(r *memd.Remember) { r.Importance = &n } }

var scripts = []script{
	{"versions and base versions", nil, func(h *house, roll func(), say sayer) {
		base := func(n int) func(*memd.RememberLongTerm) { return func(r *memd.RememberLongTerm) { r.BaseVersion = &n } }
		put := func(text string, edits ...func(*memd.RememberLongTerm)) {
			say(h.RememberLongTerm(ctx, ann, longRequest("k", text, edits...)))
		}
		put("one", base(0))
		roll()
		put("two", base(0))
		put("two", base(2))
		put("two", base(1))
		roll()
		put("three", base(1))
		put("two", base(2)) // unchanged
		put("three", base(2))
		roll()
		put("four")
		put("four")
	}},
	{"metadata", nil, func(h *house, roll func(), say sayer) {
		short := say(h.Remember(ctx, ann, shortRequest("a short row")))
		old := say(h.RememberLongTerm(ctx, ann, longRequest("k", "one")))
		roll()
		head := say(h.RememberLongTerm(ctx, ann, longRequest("k", "two")))
		cold := say(h.Remember(ctx, ann, shortRequest("a cold row")))
		say(h.Archive(ctx, ann, cold))
		roll()
		for n, id := range []string{short, old, head, cold} {
			say(h.Patch(ctx, ann, id, memd.Patch{Importance: memd.Some(n + 1), Tags: memd.Some([]string{"tag", fmt.Sprint("t", n)}),
				Owner: memd.Some("ann"), ExpiresAt: memd.Some(h.at(40 * day))}))
			h.clock.Advance(day)
			say(h.Verify(ctx, ann, id, memd.Verify{}))
			say(h.Hit(ctx, ann, id))
		}
		// The tags of a head cover its older versions, in whichever database.
		say(h.Patch(ctx, admin, head, memd.Patch{Access: memd.Some([]string{"hr"})}))
		say(h.Patch(ctx, ann, old, memd.Patch{Importance: memd.Some(3)}))
	}},
	{"archive", nil, func(h *house, roll func(), say sayer) {
		short := say(h.Remember(ctx, ann, shortRequest("a short row")))
		pitfall := func(text string) string {
			return say(h.RememberLongTerm(ctx, ann, longRequest("k", text, func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })))
		}
		old, head := pitfall("one"), pitfall("two")
		roll()
		say(h.Archive(ctx, ann, short))
		say(h.Archive(ctx, ann, head))
		for _, id := range []string{head, old} {
			say(h.Hit(ctx, ann, id))
			say(h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())}))
			say(h.Archive(ctx, ann, id))
			say(h.Archive(ctx, ann, id))
		}
		roll()
		pitfall("three") // the counter stays
	}},
	{"promote", nil, func(h *house, roll func(), say sayer) {
		row := func(text string) string { return say(h.Remember(ctx, ann, shortRequest(text))) }
		to := func(id, key string) { say(h.Promote(ctx, ann, id, memd.Promote{MemoryKey: key, Source: agents})) }
		fresh, second, same, cold, back := row("fresh"), row("second"), row("what stands"), row("cold"), row("back")
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "what stands already")))
		for _, id := range []string{cold, back} {
			say(h.Archive(ctx, ann, id))
		}
		roll()
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "what stands")))
		roll()
		to(fresh, "k")
		to(second, "k")
		to(same, "l") // the head says the same
		to(cold, "l")
		say(h.Promote(ctx, ann, back, memd.Promote{To: memd.Short}))
		say(h.Promote(ctx, ann, fresh, memd.Promote{To: memd.Short}))
		roll()
		to(back, "l")
	}},
	{"equal content", nil, func(h *house, roll func(), say sayer) {
		say(h.Remember(ctx, ann, shortRequest("said twice", weighing(3))))
		say(h.RememberLongTerm(ctx, ann, longRequest("k", "known for long")))
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "known before")))
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "known now")))
		roll()
		h.clock.Advance(3 * day)
		say(h.Remember(ctx, ann, shortRequest("said twice", weighing(9)))) // the time moves, the rest stays
		say(h.Remember(ctx, ann, shortRequest("known for long")))
		say(h.Remember(ctx, ann, shortRequest("known before"))) // superseded: no twin
		say(h.Remember(ctx, ann, shortRequest("known now")))
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "known for long"))) // warns
	}},
	{"forget", nil, func(h *house, roll func(), say sayer) {
		var ids []string
		row := say(h.Remember(ctx, ann, shortRequest("a row")))
		for n := range 3 {
			ids = append(ids, say(h.RememberLongTerm(ctx, ann, longRequest("k", fmt.Sprint("version ", n)))))
			say(h.RememberLongTerm(ctx, ann, longRequest("l", fmt.Sprint("version ", n, " of l"))))
			roll()
		}
		forget := func(id string) { say(memd.Written{}, h.Forget(ctx, ann, id)) }
		forget(row)
		forget(row)
		forget(ids[1]) // and what is older
		forget(ids[0])
		say(memd.Written{}, h.ForgetKey(ctx, ann, "", "l"))
		say(memd.Written{}, h.ForgetKey(ctx, ann, "", "l"))
		say(h.RememberLongTerm(ctx, ann, longRequest("l", "anew")))
		forget(ids[2])
		say(h.RememberLongTerm(ctx, ann, longRequest("k", "anew as well")))
	}},
	{"short_rows", func(b *configs.Budgets) { b.ShortRows, b.ArchiveRows = 3, 2 }, func(h *house, roll func(), say sayer) {
		for n, importance := range []int{9, 2, 8, 3, 7, 1, 6} { // the least valuable goes, wherever it stands
			say(h.Remember(ctx, ann, shortRequest(fmt.Sprint("row ", n), weighing(importance))))
			if n < 5 {
				roll()
			}
		}
	}},
	{"long_rows", func(b *configs.Budgets) { b.LongRows = 2 }, func(h *house, roll func(), say sayer) {
		for _, key := range []string{"k", "l", "m", "k"} {
			say(h.RememberLongTerm(ctx, ann, longRequest(key, "fact of "+key)))
			if key != "m" {
				say(h.Remember(ctx, ann, shortRequest("beside "+key)))
				roll()
			}
		}
		say(h.RememberLongTerm(ctx, ann, longRequest("k", "another fact of k"))) // an upsert is not refused
		say(memd.Written{}, h.ForgetKey(ctx, ann, "", "l"))
		say(h.RememberLongTerm(ctx, ann, longRequest("m", "fact of m")))
	}},
	{"per_namespace", func(b *configs.Budgets) { b.ShortRows, b.LongRows, b.ArchiveRows, b.PerNamespace = 4, 4, 4, 0.5 }, func(h *house, roll func(), say sayer) {
		for n := range 5 {
			for _, ns := range []string{"default", "project/x"} {
				say(h.Remember(ctx, ann, shortRequest(fmt.Sprint("row ", n), weighing(9-n), func(r *memd.Remember) { r.Namespace = ns })))
				say(h.RememberLongTerm(ctx, ann, longRequest(fmt.Sprint("key-", n), "fact", func(r *memd.RememberLongTerm) { r.Namespace = ns })))
			}
			roll()
		}
	}},
	{"idempotency keys", nil, func(h *house, roll func(), say sayer) {
		once := func(key string) {
			say(h.Remember(tiers.WithOnce(ctx, tiers.Once{Key: key, Print: "p" + key}), ann, shortRequest("row "+key)))
		}
		once("a")
		roll()
		once("a")
		once("b")
		roll()
		once("a")
		once("b")
		h.clock.Advance(tiers.OnceFor)
		once("a")
	}},
	{"sessions", nil, func(h *house, roll func(), say sayer) {
		note := func(c memd.Caller, session, text, ttl string) {
			say(h.Note(ctx, c, session, memd.Note{Summary: text, TTL: ttl}))
		}
		row := say(h.Remember(ctx, ann, shortRequest("a row")))
		note(ann, "s", "first", "24h")
		note(ann, "s", "brief", "1h")
		note(ben, "t", "of ben", "24h")
		roll()
		note(ben, "s", "not his", "1h")
		note(ann, "s", "second", "48h")
		h.clock.Advance(2 * time.Hour)
		say(h.Patch(ctx, ann, row, memd.Patch{Importance: memd.Some(7)}))
		for _, session := range []string{"s", "t"} {
			notes, err := h.Notes(ctx, ann, session)
			for _, m := range notes {
				say(memd.Written{Memory: m}, err)
			}
			say(memd.Written{}, err)
		}
		say(memd.Written{}, h.EndSession(ctx, ben, "t"))
		say(memd.Written{}, h.EndSession(ctx, ann, "t"))
	}},
}

// What is answered depends on no rollover.
func TestAcrossDatabasesAsInOne(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			if one, many := play(t, s, false), play(t, s, true); one != many {
				a, b := strings.Split(one, "\n"), strings.Split(many, "\n")
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Errorf("in one database\n%s\nacross\n%s", a[i], b[i])
					}
				}
				if len(a) != len(b) {
					t.Errorf("%d answers in one database, %d across", len(a), len(b))
				}
			}
		})
	}
}

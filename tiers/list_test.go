package tiers_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// shown are the summaries a list shows, newest first.
func (h *house) shown(c memd.Caller, req memd.List) string {
	h.t.Helper()
	page, err := h.List(ctx, c, req)
	h.must(err)
	var summaries []string
	for _, m := range page.Memories {
		summaries = append(summaries, m.Summary)
	}
	return strings.Join(summaries, " ")
}

func TestListFilters(t *testing.T) {
	h := newHouse(t, nil)
	tagged := func(tags ...string) func(*memd.Remember) { return func(r *memd.Remember) { r.Tags = tags } }
	h.remember("s1", tagged("build", "go"))
	h.remember("s2", tagged("builds", "100%"), func(r *memd.Remember) { r.Kind = memd.Task })
	h.remember("s3", tagged("a,b", "x_y", "Build"))
	h.keep("k1", "l1", func(r *memd.RememberLongTerm) { r.Tags, r.Kind = []string{"build"}, memd.Rule })
	h.keep("k2", "l2-old")
	h.keep("k2", "l2")
	a1 := h.remember("a1", tagged("build"))
	h.must(second(h.Archive(ctx, ann, a1.ID)))
	h.remember("elsewhere", func(r *memd.Remember) { r.Namespace, r.Tags = "user", []string{"build"} })
	h.note(ann, "s", "n1", "")
	for name, c := range map[string]struct {
		req  memd.List
		want string
	}{
		"all":                    {memd.List{}, "a1 l2 l1 s3 s2 s1"},
		"default by name":        {memd.List{Namespace: "default"}, "a1 l2 l1 s3 s2 s1"},
		"namespace":              {memd.List{Namespace: "user"}, "elsewhere"},
		"empty namespace":        {memd.List{Namespace: "project/none"}, ""},
		"short":                  {memd.List{Tier: memd.Short}, "s3 s2 s1"},
		"long shows heads":       {memd.List{Tier: memd.Long}, "l2 l1"},
		"archive":                {memd.List{Tier: memd.Archive}, "a1"},
		"transient":              {memd.List{Tier: memd.Transient}, "n1"},
		"kind":                   {memd.List{Kind: memd.Task}, "s2"},
		"kind over tiers":        {memd.List{Kind: memd.Event}, "a1 s3 s1"},
		"tag":                    {memd.List{Tag: "build"}, "a1 l1 s1"},
		"tag with another":       {memd.List{Tag: "go"}, "s1"},
		"tag, case":              {memd.List{Tag: "Build"}, "s3"},
		"tag with %":             {memd.List{Tag: "100%"}, "s2"},
		"tag % is no pattern":    {memd.List{Tag: "%"}, ""},
		"tag _ is no pattern":    {memd.List{Tag: "_____"}, ""},
		"tag with _":             {memd.List{Tag: "x_y"}, "s3"},
		"tag with comma":         {memd.List{Tag: "a,b"}, "s3"},
		"tag, part of comma":     {memd.List{Tag: "a"}, ""},
		"tag, JSON":              {memd.List{Tag: `build","go`}, ""},
		"tag, part":              {memd.List{Tag: "buil"}, ""},
		"key":                    {memd.List{MemoryKey: "k2"}, "l2"},
		"key is no pattern":      {memd.List{MemoryKey: "k%"}, ""},
		"key, case":              {memd.List{MemoryKey: "K2"}, ""},
		"several":                {memd.List{Tier: memd.Short, Tag: "build", Kind: memd.Event}, "s1"},
		"q":                      {memd.List{Q: "S"}, "elsewhere s3 s2 s1"[len("elsewhere "):]},
		"q and tier":             {memd.List{Q: "1", Tier: memd.Long}, "l1"},
		"q never old versions":   {memd.List{Q: "old"}, ""},
		"q is no pattern":        {memd.List{Q: "%"}, ""},
		"q is no pattern, _":     {memd.List{Q: "_"}, ""},
		"q is no pattern, quote": {memd.List{Q: `' OR 1=1 --`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.shown(ann, c.req); got != c.want {
				t.Errorf("shows %q, want %q", got, c.want)
			}
		})
	}
	if page, err := h.List(ctx, ann, memd.List{Namespace: "project/none"}); err != nil || page.Memories == nil {
		t.Errorf("an empty list is nil, %v", err)
	}
	page, err := h.List(ctx, ann, memd.List{})
	h.must(err)
	for _, m := range page.Memories {
		if m.RawContent != "" || m.Tags == nil || m.Access == nil {
			t.Errorf("a list shows %+v", m)
		}
	}
}

// q is a part of the summary in any case, in any script, as one would type it.
func TestListQ(t *testing.T) {
	h := newHouse(t, nil)
	for _, summary := range []string{"GPU at 100% load", "修复watchdog误杀设备重启", "Öl und Straße", "re\u0301sume\u0301 in NFD", "ΣΊΣΥΦΟΣ", "ＦＵＬＬ width", "under_score"} {
		h.remember(summary)
	}
	for q, want := range map[string]string{
		"100%": "GPU at 100% load", "gpu AT": "GPU at 100% load", "0% l": "GPU at 100% load",
		"设备": "修复watchdog误杀设备重启", "重": "修复watchdog误杀设备重启", "WATCHDOG误": "修复watchdog误杀设备重启",
		"Öl": "Öl und Straße", "öl": "Öl und Straße", "ÖL UND": "Öl und Straße", "STRASSE": "Öl und Straße",
		"résumé": "re\u0301sume\u0301 in NFD", "RE\u0301SUME\u0301": "re\u0301sume\u0301 in NFD",
		"σίσυφος": "ΣΊΣΥΦΟΣ", "Σίσυφος": "ΣΊΣΥΦΟΣ", "full": "ＦＵＬＬ width", "ｆull WIDTH": "ＦＵＬＬ width",
		"r_s": "under_score", "resume": "", "设重": "", "ol und": "",
	} {
		if got := h.shown(ann, memd.List{Q: q}); got != want {
			t.Errorf("q %q shows %q, want %q", q, got, want)
		}
	}
}

// The filter stale agrees with the mark that each row shows.
func TestListStale(t *testing.T) {
	h := newHouse(t, nil)
	h.keep("old", "l-old")
	h.keep("pref", "l-pref", func(r *memd.RememberLongTerm) { r.Kind, r.Source = memd.Preference, "user" })
	trap := h.keep("trap", "l-trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	h.must(second(h.Patch(ctx, ann, trap.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	h.must(second(h.Archive(ctx, ann, trap.ID)))
	h.remember("s-old")
	h.clock.Advance(100 * day)
	h.keep("new", "l-new")
	marked := h.keep("marked", "l-marked")
	h.shell(`UPDATE long SET stale = 1, stale_reason = 'source_missing' WHERE id = '` + marked.ID + `'`)
	for want, req := range map[string]memd.List{
		"l-marked l-old":            {Stale: ptr(true)},
		"l-new s-old l-trap l-pref": {Stale: ptr(false)},
	} {
		page, err := h.List(ctx, ann, req)
		h.must(err)
		for _, m := range page.Memories {
			if m.Stale != *req.Stale {
				t.Errorf("stale=%v lists %s, which shows stale %v", *req.Stale, m.Summary, m.Stale)
			}
		}
		if got := h.shown(ann, req); got != want {
			t.Errorf("stale=%v shows %q, want %q", *req.Stale, got, want)
		}
	}
}

// A walk over the pages sees each row of its start once, while rows come, go
// and move.
func TestListCursorWalk(t *testing.T) {
	h := newHouse(t, nil)
	var want []string
	for n := range 25 {
		if n%3 == 0 {
			want = append(want, h.keep(fmt.Sprint("k", n), fmt.Sprint("row ", n)).ID)
		} else {
			want = append(want, h.remember(fmt.Sprint("row ", n)).ID)
		}
	}
	slices.Reverse(want)
	var got []string
	req := memd.List{Limit: 4}
	for step := 0; ; step++ {
		page, err := h.List(ctx, ann, req)
		h.must(err)
		if len(page.Memories) > 4 {
			t.Fatalf("a page of %d rows", len(page.Memories))
		}
		for _, m := range page.Memories {
			got = append(got, m.ID)
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
		h.remember(fmt.Sprint("added ", step))
		h.must(second(h.Archive(ctx, ann, want[1]))) // moved, listed already
		if step == 2 {
			h.must(second(h.Archive(ctx, ann, want[20]))) // moved, still to come
			h.remember("row 2")                           // said again, still to come
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the walk saw %d rows\n%q\nwant\n%q", len(got), got, want)
	}
	// A last page that is just full has no next one.
	page, err := h.List(ctx, ann, memd.List{Tier: memd.Long, Limit: 9})
	if err != nil || len(page.Memories) != 9 || page.NextCursor != "" {
		t.Errorf("%d rows and the cursor %q, %v", len(page.Memories), page.NextCursor, err)
	}
}

func TestListLimits(t *testing.T) {
	h := newHouse(t, nil)
	for n := range 201 {
		h.remember(fmt.Sprint("row ", n))
	}
	for limit, want := range map[int]int{0: 50, 1: 1, 200: 200} {
		page, err := h.List(ctx, ann, memd.List{Limit: limit})
		if err != nil || len(page.Memories) != want || page.NextCursor == "" {
			t.Errorf("limit %d: %d rows, cursor %q, %v", limit, len(page.Memories), page.NextCursor, err)
		}
	}
	for _, limit := range []int{-1, 201, 1 << 40} {
		refused(t, second(h.List(ctx, ann, memd.List{Limit: limit})), memd.CodeInvalidRequest, "limit")
	}
}

func TestBadList(t *testing.T) {
	h := newHouse(t, nil)
	refused(t, second(h.List(ctx, ann, memd.List{Tier: "meta"})), memd.CodeInvalidRequest, "tier")
	refused(t, second(h.List(ctx, ann, memd.List{Kind: "note"})), memd.CodeInvalidRequest, "kind")
	refused(t, second(h.List(ctx, ann, memd.List{Namespace: "A"})), memd.CodeInvalidRequest, "namespace")
	refused(t, second(h.List(ctx, ann, memd.List{Q: strings.Repeat("q", 32769)})), memd.CodeTooLarge, "q")
}

// A cursor goes on with the list it came from, and with no other.
func TestListForgedCursors(t *testing.T) {
	h := newHouse(t, nil)
	for n := range 5 {
		h.remember(fmt.Sprint("row ", n))
	}
	first, err := h.List(ctx, ann, memd.List{Limit: 2})
	h.must(err)
	good := first.NextCursor
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for name, cursor := range map[string]string{
		"text": "next", "cut": good[:len(good)-3], "padded": good + "=", "blank": " ", "empty object": encode("{}"), "null": encode("null"),
		"number": encode("7"), "array": encode("[]"), "other mark": encode(`{"b":"01900000-0000-7000-8000-000000000000","q":1}`),
		"no id": strings.Replace(string(must(base64.RawURLEncoding.DecodeString(good))), "-", "x", 9), "SQL": encode(`{"b":"' OR 1=1","q":0}`),
		"huge": strings.Repeat("A", 100000),
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, second(h.List(ctx, ann, memd.List{Limit: 2, Cursor: cursor})), memd.CodeInvalidRequest, "cursor")
		})
	}
	for name, req := range map[string]memd.List{
		"namespace": {Namespace: "user"}, "tier": {Tier: memd.Short}, "kind": {Kind: memd.Event}, "tag": {Tag: "x"},
		"key": {MemoryKey: "k"}, "q": {Q: "row"}, "stale": {Stale: ptr(false)}, "access": {Access: []string{"hr"}},
	} {
		t.Run("other "+name, func(t *testing.T) {
			req.Cursor = good
			refused(t, second(h.List(ctx, admin, req)), memd.CodeInvalidRequest, "cursor")
		})
	}
	if page, err := h.List(ctx, ann, memd.List{Limit: 3, Cursor: good}); err != nil || len(page.Memories) != 3 {
		t.Errorf("the true cursor with another limit: %d rows, %v", len(page.Memories), err)
	}
}

func TestBatch(t *testing.T) {
	h := newHouse(t, nil)
	a := h.remember("a", func(r *memd.Remember) { r.RawContent = "raw" })
	b, c := h.keep("k", "b"), h.keep("k", "c")
	found, err := h.Batch(ctx, reader, []string{c.ID, "no-such-id", a.ID, b.ID})
	h.must(err)
	if len(found) != 3 || found[0].ID != c.ID || found[1].ID != a.ID || found[2].ID != b.ID || found[1].RawContent != "raw" {
		t.Errorf("found %+v", found)
	}
	if found, err := h.Batch(ctx, reader, []string{"no-such-id"}); err != nil || found == nil || len(found) != 0 {
		t.Errorf("nothing found is %v, %v", found, err)
	}
	refused(t, second(h.Batch(ctx, reader, nil)), memd.CodeInvalidRequest, "ids")
	refused(t, second(h.Batch(ctx, reader, make([]string, 51))), memd.CodeInvalidRequest, "ids")
	h.must(second(h.Batch(ctx, reader, make([]string, 50))))
}

func TestManifest(t *testing.T) {
	h := newHouse(t, nil)
	if lines, err := h.Manifest(ctx, reader, "", nil); err != nil || lines == nil || len(lines) != 0 {
		t.Errorf("an empty manifest is %v, %v", lines, err)
	}
	h.keep("old", "an old\n  rule", func(r *memd.RememberLongTerm) { r.Kind = memd.Rule })
	h.clock.Advance(day)
	h.keep("k", "superseded")
	h.keep("k", strings.Repeat("界", 300))
	h.clock.Advance(time.Hour)
	s := h.remember("short row")
	h.must(second(h.Archive(ctx, ann, h.remember("cold").ID)))
	h.note(ann, "s", "note", "")
	h.remember("elsewhere", func(r *memd.Remember) { r.Namespace = "user" })
	lines, err := h.Manifest(ctx, reader, "", nil)
	h.must(err)
	want := []string{"[event] " + s.ID + " (today): short row", "[fact] k (today): " + strings.Repeat("界", 199) + "…", "[rule] old (1 day): an old rule"}
	if !slices.Equal(lines, want) {
		t.Errorf("the manifest is\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for n := range 210 {
		h.remember(fmt.Sprint("row ", n))
	}
	if lines, err := h.Manifest(ctx, reader, "", nil); err != nil || len(lines) != 200 || !strings.HasSuffix(lines[0], ": row 209") {
		t.Errorf("%d lines, the first %q, %v", len(lines), lines[0], err)
	}
}

// Reading a row counts once per caller and day; looking through lists, and
// writing, does not count.
func TestWhatCountsAsAccess(t *testing.T) {
	h := newHouse(t, nil)
	short := h.remember("short")
	h.keep("k", "long")
	hidden := must(h.Remember(ctx, admin, memd.Remember{Summary: "hidden", Access: []string{"hr"}}))
	h.list(ann, memd.List{})
	h.must(second(h.Manifest(ctx, ann, "", nil)))
	h.must(second(h.Versions(ctx, ann, "", "k")))
	h.must(second(h.Patch(ctx, ann, short.ID, memd.Patch{Importance: memd.Some(6)})))
	h.remember("short")
	h.keep("k", "long")
	_, err := h.Get(ctx, ann, hidden.ID)
	refused(t, err, memd.CodeNotFound, "")
	accesses := func() string {
		h.must(h.store.FlushAccess(ctx))
		return h.shell(`SELECT group_concat(n, ' ') FROM (SELECT (SELECT count(*) FROM access_log WHERE memory_id = m.id) AS n FROM memory m ORDER BY id)`)
	}
	if got := accesses(); got != "0 0 0" {
		t.Errorf("accesses without a read: %s", got)
	}
	for range 3 {
		h.must(second(h.Get(ctx, ann, short.ID)))
		h.must(second(h.Batch(ctx, ann, []string{short.ID, hidden.ID})))
		h.must(second(h.Get(ctx, ben, short.ID)))
		h.must(second(h.Head(ctx, ann, "", "k")))
	}
	if got := accesses(); got != "2 1 0" {
		t.Errorf("accesses of a day: %s", got)
	}
	h.clock.Advance(day)
	h.must(second(h.Get(ctx, ann, short.ID)))
	if got := accesses(); got != "3 1 0" {
		t.Errorf("accesses on the next day: %s", got)
	}
}

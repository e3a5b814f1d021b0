package tiers_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/guard/fence"
	"memd/store"
	"memd/tiers"
)

// Ids of records of the tests.
const (
	idA = "01a22e00-0000-7000-8000-00000000000a"
	idB = "01a22e00-0000-7000-8000-00000000000b"
	idC = "01a22e00-0000-7000-8000-00000000000c"
	idD = "01a22e00-0000-7000-8000-00000000000d"
)

func shortRecord(id, summary string, edits ...func(*memd.Record)) memd.Record {
	return edited(memd.Record{Type: memd.MemoryRecord, ID: id, Tier: memd.Short, Summary: summary}, edits)
}

// versionRecord is a version of a key, the current one where it says what it supersedes.
func versionRecord(id, key string, version int, summary string, edits ...func(*memd.Record)) memd.Record {
	return edited(memd.Record{Type: memd.MemoryRecord, ID: id, Tier: memd.Long, MemoryKey: key, Version: version, Summary: summary,
		Source: agents}, edits)
}

func edited(rec memd.Record, edits []func(*memd.Record)) memd.Record {
	for _, edit := range edits {
		edit(&rec)
	}
	return rec
}

func current(older ...string) func(*memd.Record) {
	return func(r *memd.Record) { r.IsHead, r.Supersedes = true, older }
}

func behind(head string) func(*memd.Record) {
	return func(r *memd.Record) { r.SupersededBy = head }
}

func grave(id, key string, of *memd.Memory, at memd.Time) memd.Record {
	return memd.Record{Type: memd.TombstoneRecord, ID: id, Namespace: "default", MemoryKey: key, ContentHash: tiers.ContentHash(of), ForgottenAt: at}
}

// What is wrong with a record is said by field, and is not its neighbours' fault.
func TestImportChecks(t *testing.T) {
	h := newHouse(t, nil)
	ahead := h.at(6 * time.Minute)
	for name, bad := range map[string]struct {
		rec   memd.Record
		code  memd.Code
		field string
	}{
		"no type":          {memd.Record{Summary: "x"}, memd.CodeInvalidRequest, "type"},
		"another type":     {memd.Record{Type: "vector"}, memd.CodeInvalidRequest, "type"},
		"tier":             {shortRecord(idA, "x", func(r *memd.Record) { r.Tier = "attic" }), memd.CodeInvalidRequest, "tier"},
		"id":               {shortRecord("none", "x"), memd.CodeInvalidRequest, "id"},
		"id of another":    {shortRecord("01A22E00-0000-7000-8000-00000000000A", "x"), memd.CodeInvalidRequest, "id"},
		"id v4":            {shortRecord("01a22e00-0000-4000-8000-00000000000a", "x"), memd.CodeInvalidRequest, "id"},
		"namespace":        {shortRecord(idA, "x", func(r *memd.Record) { r.Namespace = "Team A" }), memd.CodeInvalidRequest, "namespace"},
		"kind":             {shortRecord(idA, "x", func(r *memd.Record) { r.Kind = "gossip" }), memd.CodeInvalidRequest, "kind"},
		"kind of long":     {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.Kind = memd.Task }), memd.CodeInvalidRequest, "kind"},
		"blank":            {shortRecord(idA, " \u200b"), memd.CodeInvalidRequest, "summary"},
		"nul":              {shortRecord(idA, "x\x00y"), memd.CodeInvalidRequest, "summary"},
		"long text":        {shortRecord(idA, strings.Repeat("x", 8001)), memd.CodeTooLarge, "summary"},
		"raw":              {shortRecord(idA, "x", func(r *memd.Record) { r.RawContent = strings.Repeat("x", 65537) }), memd.CodeTooLarge, "raw_content"},
		"importance":       {shortRecord(idA, "x", func(r *memd.Record) { r.Importance = 11 }), memd.CodeInvalidRequest, "importance"},
		"tags":             {shortRecord(idA, "x", func(r *memd.Record) { r.Tags = []string{"a\nb"} }), memd.CodeInvalidRequest, "tags"},
		"key of short":     {shortRecord(idA, "x", func(r *memd.Record) { r.MemoryKey = "k" }), memd.CodeInvalidRequest, "memory_key"},
		"version of short": {shortRecord(idA, "x", func(r *memd.Record) { r.Version = 1 }), memd.CodeInvalidRequest, "version"},
		"head of short":    {shortRecord(idA, "x", func(r *memd.Record) { r.IsHead = true }), memd.CodeInvalidRequest, "version"},
		"no key":           {versionRecord(idA, "", 1, "x", current()), memd.CodeMissingField, "memory_key"},
		"bad key":          {versionRecord(idA, "a b", 1, "x", current()), memd.CodeInvalidRequest, "memory_key"},
		"no version":       {versionRecord(idA, "k", 0, "x", current()), memd.CodeInvalidRequest, "version"},
		"no source":        {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.Source = "" }), memd.CodeMissingSource, "source"},
		"a memory":         {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.Source = idB }), memd.CodeMissingSource, "source"},
		"no reason":        {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.Kind = memd.Feedback }), memd.CodeMissingField, "why"},
		"status":           {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.SourceStatus = "fine" }), memd.CodeInvalidRequest, "source_status"},
		"source hash":      {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.SourceHash = "sha256:00" }), memd.CodeInvalidRequest, "source_hash"},
		"stale reason":     {shortRecord(idA, "x", func(r *memd.Record) { r.Stale, r.StaleReason = true, "old" }), memd.CodeInvalidRequest, "stale_reason"},
		"created":          {shortRecord(idA, "x", func(r *memd.Record) { r.CreatedAt = ahead }), memd.CodeInvalidRequest, "created_at"},
		"updated":          {shortRecord(idA, "x", func(r *memd.Record) { r.UpdatedAt = ahead }), memd.CodeInvalidRequest, "updated_at"},
		"written":          {shortRecord(idA, "x", func(r *memd.Record) { r.WrittenAt = ahead }), memd.CodeInvalidRequest, "written_at"},
		"verified":         {versionRecord(idA, "k", 1, "x", current(), func(r *memd.Record) { r.VerifiedAt = ahead }), memd.CodeInvalidRequest, "verified_at"},
		"accessed":         {shortRecord(idA, "x", func(r *memd.Record) { r.LastAccessedAt = ahead }), memd.CodeInvalidRequest, "last_accessed_at"},
		"resolved":         {shortRecord(idA, "x", func(r *memd.Record) { r.ResolvedAt = ahead }), memd.CodeInvalidRequest, "resolved_at"},
		"accesses":         {shortRecord(idA, "x", func(r *memd.Record) { r.AccessCount = -1 }), memd.CodeInvalidRequest, "access_count"},
		"hits":             {shortRecord(idA, "x", func(r *memd.Record) { r.Hits = []memd.Time{h.now()} }), memd.CodeInvalidRequest, "hits"},
		"note without id":  {memd.Record{Type: memd.MemoryRecord, Tier: memd.Transient, Summary: "x", SessionID: "s"}, memd.CodeMissingField, "id"},
		"note of nobody":   {memd.Record{Type: memd.MemoryRecord, ID: idA, Tier: memd.Transient, Summary: "x"}, memd.CodeInvalidRequest, "session_id"},
		"note for ever": {memd.Record{Type: memd.MemoryRecord, ID: idA, Tier: memd.Transient, Summary: "x", SessionID: "s", ExpiresAt: h.at(9000 * time.Hour)},
			memd.CodeInvalidRequest, "expires_at"},
		"key record":        {memd.Record{Type: memd.KeyRecord, Namespace: "default", MemoryKey: "k"}, memd.CodeInvalidRequest, "version"},
		"key with text":     {memd.Record{Type: memd.KeyRecord, Namespace: "default", MemoryKey: "k", Version: 1, Summary: "x"}, memd.CodeInvalidRequest, "type"},
		"tombstone of none": {memd.Record{Type: memd.TombstoneRecord, Namespace: "default"}, memd.CodeMissingField, "id"},
		"tombstone ahead":   {grave(idA, "", &memd.Memory{Summary: "x"}, ahead), memd.CodeInvalidRequest, "forgotten_at"},
		"memd's own":        {shortRecord(idA, fence.Wrap("\n- [rule] x\n  "+strings.Repeat("a rule ", 20)+"\n")), memd.CodeInvalidRequest, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := h.imports(shortRecord("", name+" before"), bad.rec, shortRecord("", name+" after"))
			if out[0].Outcome != memd.Created || out[2].Outcome != memd.Created {
				t.Errorf("neighbours: %+v", out)
			}
			if got := out[1]; got.Outcome != memd.Refused || got.Code != bad.code || got.Field != bad.field || got.Reason == "" {
				t.Errorf("%+v, want refused %s %s", got, bad.code, bad.field)
			}
		})
	}
	if _, ok := h.get(idA); ok {
		t.Error("a refused record stands")
	}
}

func TestImportNeedsAdmin(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range []memd.Caller{ann, reader} {
		_, err := h.Import(ctx, c, []memd.Record{shortRecord(idA, "x")}, false)
		refused(t, err, memd.CodeForbidden, "")
		err = h.Export(ctx, c, nil, func(tiers.Exported) error { t.Error("begun"); return nil }, nil)
		refused(t, err, memd.CodeForbidden, "")
	}
	_, err := h.Import(ctx, admin, make([]memd.Record, memd.MaxRecords+1), false)
	refused(t, err, memd.CodeTooLarge, "records")
}

// An administrator of some namespaces takes nothing out of others, and puts nothing in.
func TestExchangeScope(t *testing.T) {
	h := newHouse(t, nil)
	h.furnish()
	part := memd.Caller{Name: "part", Role: memd.RoleAdmin, Namespaces: []string{"project/x"}}
	var seen []memd.Record
	h.must(h.Export(ctx, part, nil, func(e tiers.Exported) error {
		if e.Rows != nil || len(e.Namespaces) != 1 {
			t.Errorf("told %+v", e)
		}
		return nil
	}, func(rec *memd.Record) error { seen = append(seen, *rec); return nil }))
	if len(seen) != 1 || seen[0].Namespace != "project/x" {
		t.Errorf("exported %v", linesOf(t, seen))
	}
	refused(t, h.Export(ctx, part, []string{"default"}, nil, nil), memd.CodeForbidden, "namespace")
	untagged := memd.Caller{Name: "untagged", Role: memd.RoleAdmin}
	h.must(h.Export(ctx, untagged, []string{"default"}, func(tiers.Exported) error { return nil }, func(rec *memd.Record) error {
		if len(rec.Access) > 0 || rec.MemoryKey == "board/plan" || rec.Namespace != "default" {
			t.Errorf("exported %s %s", rec.Namespace, rec.MemoryKey)
		}
		return nil
	}))
	out := must(h.Import(ctx, part, []memd.Record{shortRecord(idA, "x"), shortRecord(idB, "y", func(r *memd.Record) { r.Namespace = "project/x" }),
		shortRecord(idC, "z", func(r *memd.Record) { r.Namespace, r.Access = "project/x", []string{"board"} })}, false))
	if out[0].Code != memd.CodeForbidden || out[1].Outcome != memd.Created || out[2].Code != memd.CodeForbidden || out[2].Field != "access" {
		t.Errorf("%+v", out)
	}
}

// A record that hits upon a row which the caller may not see is told that the id or the
// key is taken, and nothing of the row.
func TestImportHidden(t *testing.T) {
	h := newHouse(t, nil)
	secret := h.keep("board/plan", "the board meets in March")
	must(h.Patch(ctx, admin, secret.ID, memd.Patch{Access: memd.Opt[[]string]{Set: true, Value: []string{"board"}}}))
	untagged := memd.Caller{Name: "untagged", Role: memd.RoleAdmin}
	for name, rec := range map[string]memd.Record{
		"id":      shortRecord(secret.ID, "the board meets in March"),
		"version": versionRecord(idA, "board/plan", 1, "the board meets in March", current()),
		"key":     versionRecord("", "board/plan", 0, "the board meets in March"),
		"follows": versionRecord(idA, "board/plan", 2, "the board meets in May", current(secret.ID)), // ids are in the log
		"grave":   grave(secret.ID, "board/plan", &secret.Memory, h.at(time.Minute)),
	} {
		out := must(h.Import(ctx, untagged, []memd.Record{rec}, false))[0]
		if out.Outcome != memd.Conflict || strings.Contains(out.Reason, "March") || strings.Contains(out.Reason, secret.ID) && name != "id" {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if m, _ := h.get(secret.ID); m.Summary != "the board meets in March" {
		t.Errorf("stands %+v", m)
	}
}

// The guards look at every record, as they do at a write.
func TestImportGuards(t *testing.T) {
	h := newHouse(t, nil)
	const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	out := h.imports(
		versionRecord(idA, "ci/bot", 1, "the bot uses "+token, current()),
		shortRecord(idB, "the bot uses "+token, func(r *memd.Record) { r.ContentHash = "sha256:" + strings.Repeat("0", 64) }),
		shortRecord(idC, "nothing", func(r *memd.Record) { r.ContentHash = "forged" }),
	)
	if out[0].Outcome != memd.Refused || out[0].Code != memd.CodeSecretDetected || strings.Contains(out[0].Reason+out[0].Hint, token) {
		t.Errorf("in the long tier: %+v", out[0])
	}
	if out[1].Outcome != memd.Created || len(out[1].Warnings) == 0 {
		t.Errorf("in the short tier: %+v", out[1])
	}
	for id, want := range map[string]string{idB: "the bot uses [redacted:", idC: "nothing"} {
		m, _ := h.get(id)
		if !strings.HasPrefix(m.Summary, want) || strings.Contains(m.Summary, token) || m.ContentHash != tiers.ContentHash(&m) {
			t.Errorf("stands %+v", m)
		}
	}
	// Taken in again, what was redacted is what stands; in labels as well.
	h.outcomes(memd.Unchanged, shortRecord(idB, "the bot uses "+token))
	labelled := shortRecord(idD, "labelled", func(r *memd.Record) { r.Tags = []string{token} })
	h.outcomes(memd.Created, labelled)
	h.outcomes(memd.Unchanged, labelled)
	for action, want := range map[string]int{"import": 2, "guard_redact": 2} {
		var found []store.Entry
		h.must(h.store.View(ctx, func(v *store.View) (err error) {
			found, err = v.Log(store.LogFilter{Action: action, Limit: 50})
			return err
		}))
		if len(found) != want {
			t.Errorf("%d entries of %s, want %d: %+v", len(found), action, want, found)
		}
	}
}

// A secret in any field of a record, of whichever type, comes to no file of the folder.
func TestNoFieldOfARecordIsForgotten(t *testing.T) {
	h := newHouse(t, nil)
	h.Service = h.WithGuard(with(configs.GuardBlock))
	base := map[string]memd.Record{
		"short": shortRecord(idA, "plain"), "long": versionRecord(idB, "k", 1, "plain", current()), "key": {Type: memd.KeyRecord, Namespace: "default", MemoryKey: "k", Version: 1},
		"note":      {Type: memd.MemoryRecord, ID: idC, Tier: memd.Transient, Summary: "plain", SessionID: "s"},
		"tombstone": grave(idD, "k", &memd.Memory{Summary: "plain"}, h.now()),
	}
	n := 0
	for name, plain := range base {
		for i := range reflect.TypeOf(plain).NumField() {
			rec, f := plain, reflect.TypeOf(plain).Field(i)
			n++
			if rec.ID != "" {
				rec.ID = fmt.Sprintf("01a22e00-0000-7000-8000-%012x", n)
			}
			if rec.MemoryKey != "" {
				rec.MemoryKey = fmt.Sprint("k", n)
			}
			if rec.Summary != "" {
				rec.Summary = fmt.Sprint("plain ", n)
			}
			at := reflect.ValueOf(&rec).Elem().Field(i)
			switch {
			case at.Kind() == reflect.String:
				at.SetString(aToken)
			case f.Type == reflect.TypeFor[[]string]():
				at.Set(reflect.ValueOf([]string{aToken}))
			default:
				continue
			}
			out := must(h.Import(ctx, admin, []memd.Record{rec}, true))[0]
			read := slices.Contains([]string{"ContentHash", "Supersedes", "SupersededBy", "SourceHash"}, f.Name) // and not kept
			if !read && out.Outcome != memd.Refused || strings.Contains(fmt.Sprint(out), aToken) {
				t.Errorf("%s.%s: %+v", name, f.Name, out)
			}
			must(h.Import(ctx, admin, []memd.Record{rec}, false))
		}
	}
	for _, text := range h.everywhere(`.dump`) {
		if strings.Contains(text, aToken) {
			t.Error("the folder holds the secret")
		}
	}
}

// A row whose time is over stays out; one with a key is owed.
func TestImportExpired(t *testing.T) {
	h := newHouse(t, nil)
	over := func(r *memd.Record) { r.CreatedAt, r.ExpiresAt = h.at(-2*time.Hour), h.at(-time.Hour) }
	h.outcomes(memd.Expired, shortRecord(idA, "over", over),
		memd.Record{Type: memd.MemoryRecord, ID: idB, Tier: memd.Transient, Summary: "over", SessionID: "s", CreatedAt: h.at(-48 * time.Hour)})
	h.outcomes(memd.Created, versionRecord(idC, "k", 1, "over", current(), over))
	if h.rows() != "1 0 0 0" {
		t.Errorf("rows %s", h.rows())
	}
}

// What comes in displaces nothing: beyond a row budget it is refused.
func TestImportBudgets(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ShortRows, b.LongRows, b.ArchiveRows, b.TransientRows = 2, 1, 1, 1 })
	stays := h.remember("stays")
	note := func(id string) memd.Record {
		return memd.Record{Type: memd.MemoryRecord, ID: id, Tier: memd.Transient, Summary: id, SessionID: "s", CreatedAt: h.now()}
	}
	archived := func(id string) memd.Record {
		return shortRecord(id, id, func(r *memd.Record) { r.Tier = memd.Archive })
	}
	ids := []string{"01a22e00-0000-7000-8000-000000000001", "01a22e00-0000-7000-8000-000000000002", "01a22e00-0000-7000-8000-000000000003",
		"01a22e00-0000-7000-8000-000000000004", "01a22e00-0000-7000-8000-000000000005"}
	out := h.imports(shortRecord(idA, "a"), shortRecord(idB, "b"), versionRecord(idC, "c", 1, "c", current()), versionRecord(idD, "d", 1, "d", current()),
		note(ids[0]), note(ids[1]), archived(ids[2]), archived(ids[3]), versionRecord(ids[4], "c", 2, "c two", current(idC)))
	for i, want := range []memd.Outcome{memd.Created, memd.Refused, memd.Created, memd.Refused, memd.Created, memd.Refused, memd.Created, memd.Refused, memd.Created} { // no new key
		if out[i].Outcome != want || want == memd.Refused && out[i].Code != memd.CodeBudgetExceeded {
			t.Errorf("%d: %+v, want %s", i, out[i], want)
		}
	}
	if _, ok := h.get(stays.ID); !ok || h.rows() != "2 2 1 1" {
		t.Errorf("rows %s", h.rows())
	}
}

// A session stays its owner's; another's of the same name is not joined.
func TestImportSession(t *testing.T) {
	h := newHouse(t, nil)
	note := func(id, owner string) memd.Record {
		return memd.Record{Type: memd.MemoryRecord, ID: id, Tier: memd.Transient, Summary: id, SessionID: "s", SessionOwner: owner, CreatedAt: h.now()}
	}
	h.outcomes(memd.Created, note(idA, "ann"), note(idB, "ann"))
	h.outcomes(memd.Conflict, note(idC, "ben"))
	if got := must(h.Notes(ctx, ann, "s")); len(got) != 2 {
		t.Errorf("ann sees %d notes", len(got))
	}
	_, err := h.Notes(ctx, ben, "s")
	refused(t, err, memd.CodeNotFound, "")
}

// The same id with something else is never written over.
func TestImportConflicts(t *testing.T) {
	h := newHouse(t, nil)
	h.outcomes(memd.Created, shortRecord(idA, "as it is", func(r *memd.Record) { r.Tags = []string{"a"}; r.CreatedAt = h.at(-time.Hour) }))
	was, _ := h.get(idA)
	base := memd.RecordOf(&was)
	for name, edit := range map[string]func(*memd.Record){
		"content":    func(r *memd.Record) { r.Summary = "something else" },
		"namespace":  func(r *memd.Record) { r.Namespace = "user" },
		"tags":       func(r *memd.Record) { r.Tags = []string{"b"} },
		"importance": func(r *memd.Record) { r.Importance = 9 },
		"source":     func(r *memd.Record) { r.Source = "a.md" },
		"expires_at": func(r *memd.Record) { r.ExpiresAt = h.at(time.Hour) },
	} {
		out := h.imports(edited(base, []func(*memd.Record){edit}))[0]
		if out.Outcome != memd.Conflict || out.Field != name {
			t.Errorf("%s: %+v", name, out)
		}
	}
	// What a store does by itself is no difference, nor what was changed here since.
	h.outcomes(memd.Unchanged, edited(base, []func(*memd.Record){func(r *memd.Record) { r.AccessCount = 7; r.LastAccessedAt = h.now() }}))
	h.clock.Advance(time.Minute)
	must(h.Patch(ctx, ann, idA, memd.Patch{Importance: memd.Opt[int]{Set: true, Value: 9}}))
	h.outcomes(memd.Unchanged, base)
	must(h.Promote(ctx, ann, idA, memd.Promote{MemoryKey: "promoted", Source: agents}))
	h.outcomes(memd.Unchanged, base)
	if m, _ := h.get(idA); m.Summary != "as it is" || m.Importance != 9 || m.Tier != memd.Long {
		t.Errorf("stands %+v", m)
	}
}

// A row that was promoted since is the same one, whatever reasons and dates it got.
func TestImportPromoted(t *testing.T) {
	h := newHouse(t, nil)
	h.Service = h.WithDates(configs.Dates{Absolute: true, TimeZone: "UTC"})
	note, plan := shortRecord(idA, "the cache was cold"), shortRecord(idB, "the release is on Thursday")
	other := shortRecord(idA, "the cache was warm")
	h.outcomes(memd.Created, note, plan)
	h.clock.Advance(time.Minute)
	must(h.Promote(ctx, ann, idA, memd.Promote{MemoryKey: "cache", Source: agents, Kind: memd.Practice, Why: "it times out"}))
	must(h.Promote(ctx, ann, idB, memd.Promote{MemoryKey: "plan", Source: agents, Kind: memd.Project, Why: "it is agreed", HowToApply: "wait for it"}))
	if m, _ := h.get(idB); m.Summary == plan.Summary {
		t.Errorf("no date came to %q", m.Summary)
	}
	h.outcomes(memd.Unchanged, note, plan)
	h.outcomes(memd.Conflict, other)
	if h.rows() != "2 0 0 0" {
		t.Errorf("rows %s", h.rows())
	}
}

// A record without an id is one memory however often it comes.
func TestImportWithoutID(t *testing.T) {
	h := newHouse(t, nil)
	short, archived := shortRecord("", "from a chat"), shortRecord("", "from an old chat", func(r *memd.Record) { r.Tier = memd.Archive })
	long := versionRecord("", "from/file", 0, "from a file")
	h.outcomes(memd.Created, short, archived, long)
	for range 2 {
		h.outcomes(memd.Unchanged, short, archived, long, shortRecord("", "from a file"), shortRecord("", "from an old chat"))
	}
	h.roll()
	h.outcomes(memd.Unchanged, short, archived, long)
	h.outcomes(memd.Conflict, versionRecord("", "from/file", 0, "from another file"))
	h.outcomes(memd.Unchanged, shortRecord(idA, "from a chat")) // another store said the same
	if h.rows() != "1 1 0 1" {
		t.Errorf("rows %s", h.rows())
	}
	// What others may see is another memory than what they may not.
	for _, rec := range []memd.Record{short, archived, shortRecord("", "from a file")} {
		rec.Access = []string{"board"}
		h.outcomes(memd.Created, rec)
		h.outcomes(memd.Unchanged, rec)
	}
	if h.rows() != "1 3 0 2" {
		t.Errorf("rows %s", h.rows())
	}
	out := h.imports(short)[0]
	if out.DuplicateOf == "" || out.DuplicateOf != out.ID {
		t.Errorf("%+v", out)
	}
}

// A dry run says what an import does, and does nothing.
func TestImportDry(t *testing.T) {
	from := newHouse(t, nil)
	from.furnish()
	h := newHouse(t, nil)
	h.clock.Advance(from.clock.Now().Sub(h.clock.Now()))
	kept := h.remember("kept")
	records := append(from.exported(), grave(kept.ID, "", &kept.Memory, h.at(time.Minute)), shortRecord(idA, " "))
	dry := must(h.Import(ctx, admin, records, true))
	if got := h.rows(); got != "0 1 0 0" {
		t.Errorf("rows %s after a dry run", got)
	}
	for i, out := range must(h.Import(ctx, admin, records, false)) {
		if out.Outcome != dry[i].Outcome {
			t.Errorf("%s: %s, and %s in the dry run", records[i].ID, out.Outcome, dry[i].Outcome)
		}
	}
}

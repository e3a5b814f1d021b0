package folder_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/exchange/folder"
	"memd/exchange/notes"
	"memd/guard/fence"
)

// A note that a guard refuses is named with the rule, never with the value; its file
// stays, and the others go on.
func TestSecrets(t *testing.T) {
	p := newPlace(t, nil)
	const key = "ghp_R4nd0mLookingTokenOf36Characters0k1X"
	p.note("leak.md", "leak", "the token is "+key)
	p.note("fine.md", "fine", "fine")
	before := p.all()
	r := p.report(folder.Import)
	p.want("the import", words(r), "1 created, 1 refused")
	e := entry(t, r, "leak.md")
	if e.Code != memd.CodeSecretDetected || len(e.Rules) == 0 {
		t.Errorf("it says %+v", e)
	}
	said, err := json.Marshal(r)
	must(t, err)
	if strings.Contains(string(said), key) || strings.Contains(r.Failed().Error(), key) {
		t.Error("the report holds the token")
	}
	if !maps.Equal(before, p.all()) {
		t.Error("the files were changed")
	}
}

// Nor does a report tell a token in the key, which a name becomes.
func TestSecretNames(t *testing.T) {
	const key = "ghp_R4nd0mLookingTokenOf36Characters0k1X"
	for name, head := range map[string]string{"a name": "name: " + key, "part of a name": "name: the token " + key, "a key": "name: x\nmemory_key: " + key} {
		p := newPlace(t, nil)
		p.write("leak.md", "---\n"+head+"\ndescription: d\ntype: user\n---\n")
		for _, way := range []string{"import", "both", "export"} {
			r := p.report(ways[way])
			said, err := json.Marshal(r)
			must(t, err)
			if way != "export" && r.Refused != 1 || way == "export" && r.Unchanged != 1 {
				t.Errorf("%s, %s: %s", name, way, said)
			}
			if way != "export" && strings.Contains(strings.ToLower(string(said)), strings.ToLower(key)) {
				t.Errorf("%s, %s: the report is %s", name, way, said)
			}
		}
		if index := p.all()["MEMORY.md"]; strings.Contains(index, key) {
			t.Errorf("%s: the index is %s", name, index)
		}
	}
}

// Text that the guards take out goes out of the file as well, with the next export, and
// not before.
func TestRedacted(t *testing.T) {
	p := newPlace(t, nil)
	p.note("card.md", "card", "paid with 4539 1488 0343 6467 in May")
	r := p.report(folder.Import)
	p.want("the import", words(r), "1 created")
	if e := entry(t, r, "card.md"); !strings.Contains(e.Reason, "memd export") {
		t.Errorf("it says %+v", e)
	}
	p.want("the second import", p.did(folder.Import), "1 unchanged")
	if !strings.Contains(p.read("card.md"), "4539") {
		t.Error("an import changed the text")
	}
	r = p.report(folder.Export)
	p.want("the export", words(r), "1 updated")
	if text := p.read("card.md"); strings.Contains(text, "4539") || !strings.Contains(text, "redacted:") {
		t.Errorf("the file is %q", text)
	}
	all := p.all()
	p.want("the second export", p.did(folder.Export), "1 unchanged")
	p.want("the third import", p.did(folder.Import), "1 unchanged")
	if !maps.Equal(all, p.all()) {
		t.Error("the files were changed")
	}
}

// Text that memd made is not stored again.
func TestOwnText(t *testing.T) {
	p := newPlace(t, nil)
	p.write("echo.md", "---\nname: echo\ndescription: said again\ntype: reference\n---\n"+fence.Wrap(fence.Rules{}.Entry(&memd.Memory{ID: "x", Tier: memd.Long, Summary: "said before"}, memd.At(p.clock.Now())))+"\n")
	r := p.report(folder.Import)
	p.want("the import", words(r), "1 refused")
	if e := entry(t, r, "echo.md"); !strings.Contains(e.Reason, "memd's own") {
		t.Errorf("it says %+v", e)
	}
}

// Restricted memories leave only under their names, and stand in no index.
func TestRestricted(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("pay", "a salary", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} })
	p.keep("open", "open to all")
	p.want("the export", p.did(folder.Export), "1 created")
	p.o.Access = []string{"hr"}
	p.want("the export of hr", p.did(folder.Export), "1 created, 1 unchanged")
	if text := p.read("pay.md"); !strings.Contains(text, "access: [hr]") || strings.Contains(p.read("MEMORY.md"), "salary") {
		t.Errorf("the file is %q, the index %q", text, p.read("MEMORY.md"))
	}
	p.o.Access = nil
	for name, way := range ways {
		r := p.report(way)
		p.want(name, words(r), "2 unchanged")
		if e := entry(t, r, "pay.md"); name == "export" && !strings.Contains(e.Reason, "--access") {
			t.Errorf("it says %+v", e)
		}
	}
	p.write("pay.md", strings.Replace(p.read("pay.md"), "access: [hr]\n", "", 1))
	r := p.report(folder.Import)
	p.want("the import of a file that hides it", words(r), "1 unchanged, 1 refused")
	if e := entry(t, r, "pay.md"); e.Code != memd.CodeForbidden || strings.Contains(e.Reason, "salary") {
		t.Errorf("it says %+v", e)
	}
}

// Memories that ended are not brought back, nor written out.
func TestEnded(t *testing.T) {
	p := newPlace(t, nil)
	soon := p.keep("soon", "ends soon")
	must(t, second(p.store.Patch(t.Context(), soon.ID, memd.Patch{ExpiresAt: memd.Some(memd.At(p.clock.Now().Add(time.Hour)))})))
	pit := p.keep("pit", "a pitfall", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	p.did(folder.Export)
	must(t, second(p.store.Patch(t.Context(), pit.ID, memd.Patch{ResolvedAt: memd.Some(memd.At(p.clock.Now()))})))
	p.clock.Advance(2 * time.Hour)
	for name, way := range ways {
		r := p.report(way)
		p.want(name, words(r), "2 unchanged")
		if e := entry(t, r, "soon.md"); !strings.Contains(e.Reason, "expired") {
			t.Errorf("it says %+v", e)
		}
		if e := entry(t, r, "pit.md"); !strings.Contains(e.Reason, "archive") {
			t.Errorf("it says %+v", e)
		}
	}
	other := newPlace(t, nil)
	other.clock.Advance(2 * time.Hour)
	for name, text := range p.all() {
		other.write(name, text)
	}
	other.want("elsewhere", other.did(folder.Import), "1 created, 1 unchanged")
	empty := newPlace(t, nil)
	p.o.Dir = empty.o.Dir
	p.want("an export of what is left", p.did(folder.Export), "")
}

// A note of a pitfall that is said to be resolved takes the memory to the archive, once.
func TestResolved(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("pit", "a pitfall", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	p.did(folder.Export)
	p.write("pit.md", strings.Replace(p.read("pit.md"), "verified_at:", "resolved_at: 2026-11-29\nverified_at:", 1))
	p.want("the import", p.did(folder.Import), "1 updated")
	if p.row("project/x", "pit").ID != "" {
		t.Error("it stands in the long tier")
	}
	all := p.all()
	p.want("the second import", p.did(folder.Import), "1 unchanged")
	p.want("an export", p.did(folder.Export), "1 unchanged")
	if all["pit.md"] != p.read("pit.md") {
		t.Error("the file was changed")
	}
}

// A folder that will not fit says so before anything is written.
func TestBudget(t *testing.T) {
	p := newPlace(t, func(b *configs.Budgets) { b.LongRows = 3 })
	p.keep("k", "one")
	for _, name := range []string{"a", "b", "c"} {
		p.note(name+".md", name, name)
	}
	r, err := folder.Import(t.Context(), p.store, p.o)
	if memd.CodeOf(err) != memd.CodeBudgetExceeded || !strings.Contains(err.Error(), "3 new") || !strings.Contains(err.Error(), "room for 2") {
		t.Errorf("%+v, %v", r, err)
	}
	if p.row("project/x", "a").ID != "" {
		t.Error("something was written")
	}
	must(t, p.store.ForgetKey(t.Context(), admin, "project/x", "k"))
	p.want("with room", p.did(folder.Import), "3 created")
	p.want("and full", p.did(folder.Import), "3 unchanged")
}

// A dry run reports and writes nothing.
func TestDryRun(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.keep("k", "a rule")
	before := p.all()
	p.o.DryRun = true
	for name, want := range map[string]string{"import": "1 created", "export": "1 created, 1 unchanged", "both": "2 created"} {
		p.want(name, p.did(ways[name]), want)
	}
	p.o.Dir += "/none"
	p.want("a folder that is not there", p.did(folder.Export), "1 created")
	if !missing(t, p.o.Dir) || p.row("project/x", "a").ID != "" {
		t.Error("a dry run writes")
	}
	p.o.Dir = strings.TrimSuffix(p.o.Dir, "/none")
	if !maps.Equal(before, p.all()) {
		t.Errorf("a dry run wrote %v", p.all())
	}
}

func second[T any](_ T, err error) error { return err }

// A file that states the access tags and the key of a restricted memory is not shown what
// that says, however it was made: whoever reads under a tag names it.
func TestRestrictedIsNotShownToFiles(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, nil)
			p.keep("pay", "a salary", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} })
			p.keep("bonus", "a salary too", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} })
			p.keep("own", "stands in the file")
			p.did(folder.Export)
			own := p.read("own.md")
			p.note("pay.md", "pay", "guessed", "namespace: project/x\naccess: [hr]\n")
			p.note("bonus.md", "bonus", "guessed", "namespace: project/x\n")
			n, err := notes.Parse(strings.NewReader(own), "")
			must(t, err)
			n.Name, n.MemoryKey, n.Description, n.Access = "pay", "pay", "guessed", []string{"hr"}
			n.SyncHash = n.Digest()
			var b strings.Builder
			must(t, n.Render(&b))
			p.write("sync.md", b.String())
			p.report(way)
			must(t, os.Remove(p.at("pay.md")))
			p.report(way)
			for name, text := range p.all() {
				if strings.Contains(text, "salary") {
					t.Errorf("%s says %s", name, text)
				}
			}
		})
	}
}

// What no guard let into the store is not carried into the index, which every session
// reads.
func TestIndexIsOfTheStore(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "a rule")
	p.did(folder.Export)
	p.note("new.md", "new", "not taken in yet")
	p.write("k.md", strings.Replace(p.read("k.md"), "a rule", "another rule", 1))
	p.want("the export", p.did(folder.Export), "2 unchanged")
	if index := p.read("MEMORY.md"); strings.Contains(index, "new.md") || !strings.Contains(index, "a rule") {
		t.Errorf("the index is %s", index)
	}
	p.note("far.md", "far", "of another namespace", "namespace: user\n")
	p.o.Namespace = "user"
	p.did(folder.Import)
	p.note("far.md", "far", "a secret", "namespace: user\n")
	p.o.Namespace = "project/x"
	p.did(folder.Export)
	if index := p.read("MEMORY.md"); strings.Contains(index, "secret") || !strings.Contains(index, "of another namespace") {
		t.Errorf("the index is %s", index)
	}
}

// What stands in the store already takes no room there, whatever namespace is asked for.
func TestRoomOfOtherNamespaces(t *testing.T) {
	p := newPlace(t, func(b *configs.Budgets) { b.LongRows = 1 })
	p.keep("k", "a rule")
	p.did(folder.Export)
	p.o.Namespace = "user"
	p.want("both, of another namespace", p.did(folder.Sync), "1 unchanged")
}

// Lines of the index that a person wrote stay, also such as lead to files that are no
// notes, and that of a note that cannot be read for now.
func TestIndexOfAPerson(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "first")
	p.did(folder.Sync)
	whole := p.read("a.md")
	const mine = "- [rules](../AGENTS.md) — read them\n- [hidden](.agent/rules/x.md)\n- [README](README.md) — of the folder\n"
	p.write("README.md", "# What this is\n")
	p.write("MEMORY.md", p.read("MEMORY.md")+mine+"- [gone](gone.md) — no longer there\n")
	p.write("a.md", "<<<<<<< HEAD\n"+whole)
	for range 2 {
		p.did(folder.Export)
		if index := p.read("MEMORY.md"); !strings.Contains(index, mine) || !strings.Contains(index, "(a.md) — first\n") || strings.Contains(index, "gone") {
			t.Errorf("the index is %s", index)
		}
	}
	p.write("a.md", whole)
	p.did(folder.Export)
	if index := p.read("MEMORY.md"); !strings.Contains(index, mine) || strings.Count(index, "(a.md)") != 1 {
		t.Errorf("the index is %s", index)
	}
}

// With a memory that is forgotten goes what memd kept beside its file, but not what a
// person has written there.
func TestForgottenWithWhatWasOvertaken(t *testing.T) {
	for name, edit := range map[string]string{"as memd wrote it": "", "edited": "mine\n"} {
		p := newPlace(t, nil)
		p.keep("k", "first")
		p.did(folder.Export)
		p.write("k.md", strings.Replace(p.read("k.md"), "first", "a person's", 1))
		p.keep("k", "the store's")
		p.want("both changed", p.did(folder.Sync), "1 conflict")
		if edit != "" {
			p.write("k.memd.md", p.read("k.memd.md")+edit)
		}
		must(t, p.store.ForgetKey(t.Context(), admin, "project/x", "k"))
		p.want("forgotten", p.did(folder.Export), "1 updated")
		if !missing(t, p.at("k.md")) || missing(t, p.at("k.memd.md")) != (edit == "") {
			t.Errorf("%s: there are %v", name, p.all())
		}
	}
}

// A file that a person has moved and that cannot be read for now stays the file of its
// memory: no second one is written, which would keep it out once it is mended.
func TestBrokenAndMoved(t *testing.T) {
	for name, broken := range map[string]func(string) string{
		"a merge":   func(s string) string { return "<<<<<<< HEAD\n" + s },
		"a quote":   func(s string) string { return strings.Replace(s, "name: k", "name: \"k", 1) },
		"line ends": func(s string) string { return strings.ReplaceAll(strings.Replace(s, "---", "--", 1), "\n", "\r\n") },
		"no reason": func(s string) string { return strings.Replace(s, "type: reference", "type: project", 1) },
	} {
		for way, run := range ways {
			p := newPlace(t, nil)
			p.keep("k", "a rule")
			p.keep("other", "has its file")
			p.did(folder.Export)
			whole := p.read("k.md")
			must(t, os.Remove(p.at("k.md")))
			must(t, os.Remove(p.at("other.md")))
			p.write("mine/moved.md", broken(whole))
			want := map[string]string{"import": "1 refused", "export": "1 created, 1 refused", "both": "1 created, 1 refused"}
			p.want(name+", "+way, p.did(run), want[way])
			if !missing(t, p.at("k.md")) {
				t.Errorf("%s, %s: there is a second file", name, way)
			}
			p.write("mine/moved.md", strings.Replace(whole, "a rule", "another rule", 1))
			p.did(folder.Sync)
			if m := p.row("project/x", "k"); m.Summary != "another rule" {
				t.Errorf("%s, %s: the mended file came to %q", name, way, m.Summary)
			}
		}
	}
}

// A file of a memory that is from after the key was forgotten here, such as that of
// another store or from after the backup that was restored, is the last of it: it stays.
func TestForgottenBeforeTheFile(t *testing.T) {
	p, other := newPlace(t, nil), newPlace(t, nil)
	p.keep("k", "here")
	must(t, p.store.ForgetKey(t.Context(), admin, "project/x", "k"))
	other.clock.Advance(time.Hour)
	other.keep("k", "there")
	other.did(folder.Export)
	p.write("k.md", other.read("k.md"))
	for name, way := range ways {
		r := p.report(way)
		p.want(name, words(r), "1 refused")
		if e := entry(t, r, "k.md"); !strings.Contains(e.Reason, "another name") {
			t.Errorf("it says %+v", e)
		}
	}
	if p.read("k.md") != other.read("k.md") {
		t.Error("the file was changed")
	}
}

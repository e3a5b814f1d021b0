package api

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/guard/sources"
	"memd/store"
	"memd/tiers"
)

// audited is a daemon whose store is audited, with a root folder.
type audited struct {
	*daemon
	root  string
	names map[string]string // of rows, by id
	ahead map[string]bool   // summaries ahead of which a short row is recalled
	said  []string          // every text that was stored
}

const projectX = "project/x"

// rootFiles is the project that the facts of the fixture are about.
var rootFiles = map[string]string{
	"AGENTS.md":                     "# Rules\n\nRun make test-all.\n\n## Commands\n\nmake test-all\n",
	"docs/adr/0007.md":              "# Chi\n",
	"internal/http/server.go":       "package http\n\nfunc Serve() {}\n",
	"configs/app.yaml":              "a: b\n",
	"go.mod":                        "module x\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.5.0\n\tgolang.org/x/text v0.44.0 // indirect\n)\n",
	"package.json":                  `{"dependencies":{"react":"^18.2.0","next":"14.1.0"},"devDependencies":{"vite":"workspace:*"},"engines":{"node":">=20"}}`,
	"pyproject.toml":                "[project]\ndependencies = [\"django[argon2]~=4.2\", \"httpx>=0.27,<1\"]\n[tool.poetry.dependencies]\nrich = \"^13.7\"\n",
	"Cargo.toml":                    "[dependencies]\nserde = \"1.0.200\"\ntokio = { version = \"1.37\", features = [\"full\"] }\n",
	".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/main\n",
	".git/refs/heads/master":        "0000000000000000000000000000000000000000\n",
}

func newAudited(t *testing.T) *audited {
	t.Helper()
	a := &audited{root: t.TempDir(), names: map[string]string{}, ahead: map[string]bool{}}
	for name, text := range rootFiles {
		path := filepath.Join(a.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	owners := map[string]string{}
	for _, k := range memd.AllKinds() {
		if k != memd.Decision && k != memd.Reference {
			owners[string(k)] = "platform"
		}
	}
	looked := sources.New(map[string]string{projectX: a.root})
	a.daemon = start(t, func(o *Options) {
		o.Groom.WithSources(looked)
		recall := o.Recall
		o.Audit = groom.NewAuditor(groom.AuditorOptions{Store: o.Store, Sources: looked, Owners: owners,
			Recall: func(ctx context.Context, c memd.Caller, q memd.Query) (memd.Answer, error) {
				answer, err := recall.Recall(ctx, c, q)
				if a.ahead[q.Query] {
					answer.Results = slices.Insert(answer.Results, 0, memd.Hit{Memory: memd.Memory{ID: "x", Tier: memd.Short}})
				}
				return answer, err
			}})
	}, func(b *configs.Budgets) { b.ArchiveRows = 2; b.EmbeddingRows = 1 })
	return a
}

// keep writes a long row into the project's namespace and names it.
func (a *audited) keep(name string, k memd.Kind, summary string, edit func(*memd.RememberLongTerm)) string {
	a.t.Helper()
	req := memd.RememberLongTerm{MemoryKey: name, Kind: k, Summary: summary, Source: "AGENTS.md#rules", Namespace: projectX}
	if k == memd.Practice {
		req.HowToApply = "while working on " + name
	}
	if edit != nil {
		edit(&req)
	}
	out, err := a.server.tiers.RememberLongTerm(context.Background(), memd.LocalAdmin(), req)
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	a.names[out.ID] = name
	a.said = append(a.said, req.Summary, req.RawContent, req.Why, req.HowToApply)
	return out.ID
}

// remember writes a short row and names it.
func (a *audited) remember(name, summary string, edit func(*memd.Remember)) string {
	a.t.Helper()
	req := memd.Remember{Summary: summary, Namespace: projectX}
	if edit != nil {
		edit(&req)
	}
	out, err := a.server.tiers.Remember(context.Background(), memd.LocalAdmin(), req)
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	a.names[out.ID] = name
	a.said = append(a.said, req.Summary)
	return out.ID
}

// shell runs SQL in the sqlite3 shell on the active database.
func (a *audited) shell(format string, args ...any) {
	a.t.Helper()
	sql := fmt.Sprintf(format, args...)
	out, err := exec.Command("sqlite3", "-bail", "-cmd", ".timeout 5000", filepath.Join(a.dir, store.ActiveName), sql).CombinedOutput()
	if err != nil {
		a.t.Fatalf("sqlite3: %v: %s", err, out)
	}
}

func (a *audited) audit(query string) (out groom.Audit) {
	a.t.Helper()
	a.get("/v1/audit" + query).want(http.StatusOK).into(&out)
	return out
}

// ago is a time so many days before now.
func (a *audited) ago(days int) memd.Time {
	return memd.At(a.clock.Now().Add(-time.Duration(days) * 24 * time.Hour))
}

// healthy plants what no box may name: what is in order, and beside each fault
// what only looks like it.
func (a *audited) healthy() {
	at := func(days int) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.VerifiedAt = a.ago(days) }
	}
	tagged := func(tags ...string) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.Tags = tags }
	}
	from := func(source string) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.Source = source }
	}
	a.keep("rule.command", memd.Rule, "必须在发布前运行 make test-all", nil)
	a.keep("rule.line", memd.Rule, "The server is started in one place only", from("internal/http/server.go:3"))
	a.keep("rule.url", memd.Rule, "Follow the style guide of the company", from("https://style.test/guide#go"))
	a.keep("pref.user", memd.Preference, "Answers come in English", from("user"))
	a.keep("pref.session", memd.User, "The owner lives in Kyoto", from("session:s1"))
	a.keep("fresh.marked", memd.Rule, "Review every dependency by hand", at(200))
	a.shell(`UPDATE long SET stale = 1, stale_reason = 'age' WHERE memory_key = 'fresh.marked'`)
	a.keep("pref.old", memd.Preference, "Short commit subjects please", func(r *memd.RememberLongTerm) { r.Source, r.VerifiedAt = "user", a.ago(300) })
	a.keep("twin.41", memd.Reference, "p95 was 120 ms on build 41", func(r *memd.RememberLongTerm) { r.Owner = "perf" })
	a.keep("twin.42", memd.Reference, "p95 was 126 ms on build 42", func(r *memd.RememberLongTerm) { r.Owner = "perf" })
	a.keep("twin.elsewhere", memd.Rule, "必须在发布前运行 make test-all", func(r *memd.RememberLongTerm) { r.Namespace, r.Source = "project/y", "AGENTS.md" })
	a.keep("practice.git.commit", memd.Practice, "Always keep commits small", tagged("git", "rule"))
	a.keep("rules.git.rebase", memd.Rule, "Never rebase shared branches", tagged("git"))
	a.keep("practice.chi", memd.Practice, "Handlers are mounted with chi v5 and react 18 on go 1.26, retried 3 times", nil)
	a.keep("practice.newer", memd.Practice, "Works with Go 1.21 or later, react 18.3, Django 4.2.1, next 14.1, serde 1.0.203, tokio@1.38 and node 22", nil)
	a.keep("practice.moved", memd.Practice, "The move from react 17 is over; go 3 steps back when lost", nil)
	a.keep("pitfall.labels", memd.Pitfall, "现象：构建卡住。解决：清掉缓存", nil)
	a.keep("pitfall.raw", memd.Pitfall, "The linker dies on small machines", func(r *memd.RememberLongTerm) {
		r.RawContent = "**Symptom:** killed by signal 9\n**Fix:** set GOMAXPROCS to one"
	})
	id := a.keep("pitfall.reasons", memd.Pitfall, "Tests hang behind the proxy", func(r *memd.RememberLongTerm) {
		r.Why, r.HowToApply = "the proxy eats upgrades", "unset the proxy first"
	})
	for range 2 {
		if _, err := a.server.tiers.Hit(context.Background(), memd.LocalAdmin(), id); err != nil {
			a.t.Fatal(err)
		}
	}
	a.keep("fact.paths", memd.Fact, "The router lives in `internal/http/server.go`, its settings in app.yaml and docs/adr/ says why; see AGENTS.md.", nil)
	a.keep("fact.prose", memd.Fact, "v1.2.3 of node.js serves TCP/IP and/or pipes, e.g. at 24/7, on application/json, see https://x.test/a/b.md and github.com/go-chi/chi", nil)
	a.keep("fact.gone", memd.Fact, "There is no setup.py in the tree", nil)
	a.keep("fact.branch", memd.Fact, "The default branch is main", nil)
	a.keep("fact.hash", memd.Fact, "Pinned at 8f14e45fceea167a5a36dedd4bea2543f2f5b0d6, password = ${DB_PASSWORD}", nil)
	a.keep("sensitive.closed", memd.Fact, "Where the vault stands", func(r *memd.RememberLongTerm) { r.Tags, r.Access = []string{"Sensitive"}, []string{"ops"} })
	a.remember("short.new", "The build is red again", nil)
	a.remember("short.important", "The data centre moves in spring", func(r *memd.Remember) { r.Importance = ptr(8) })
	a.shell(`UPDATE short SET written_at = '%s' WHERE summary LIKE '%%data centre%%'`, a.ago(60))
}

func ptr[T any](v T) *T { return &v }

// Every fault that is planted is named by its box, and by no other; nothing else
// is named.
func TestAuditNamesWhatIsPlanted(t *testing.T) {
	a := newAudited(t)
	a.healthy()
	want := a.plant()
	out := a.audit("?sample=200")
	numbers := map[string]bool{}
	for _, b := range out.Boxes {
		number, _, _ := strings.Cut(b.Box, " ")
		numbers[number] = true
		var got []string
		for _, id := range b.IDs {
			if a.names[id] == "" {
				t.Errorf("%s names the unknown id %s", b.Box, id)
			}
			got = append(got, a.names[id])
		}
		slices.Sort(got)
		planted := strings.Fields(want[number])
		slices.Sort(planted)
		if !slices.Equal(got, planted) {
			t.Errorf("%s names %q, want %q (%s)", b.Box, got, planted, b.How)
		}
		if b.Verdict != groom.VerdictFail || b.Fix == "" || b.How == "" || b.Section == "" {
			t.Errorf("a fault is planted, yet: %+v", b)
		}
	}
	if len(out.Boxes) != 25 || len(numbers) != 25 || out.Applicable != 25 || out.Passed != 0 {
		t.Errorf("%d boxes, %d of %d pass", len(out.Boxes), out.Passed, out.Applicable)
	}
	a.nothingSaid(out)
	a.unplant()
}

// Which database a row stands in changes nothing.
func TestAuditOverHistory(t *testing.T) {
	a := newAudited(t)
	a.healthy()
	want := a.plant()
	a.unplant()
	a.post("/v1/rollover", "").want(200)
	out := a.audit("")
	for number, names := range want {
		var got []string
		for _, id := range boxOf(t, out, number).IDs {
			got = append(got, a.names[id])
		}
		slices.Sort(got)
		planted := strings.Fields(names)
		slices.Sort(planted)
		if number != "1.1" && !slices.Equal(got, planted) { // the stray row was taken away
			t.Errorf("%s names %q, want %q", number, got, planted)
		}
	}
	a.post("/v1/groom", "{}").want(200)
	if b := boxOf(t, a.audit(""), "5.1"); b.Verdict != groom.VerdictPass {
		t.Errorf("groomed, yet %+v", b)
	}
}

// nothingSaid wants no stored text in an audit or in the log.
func (a *audited) nothingSaid(out groom.Audit) {
	a.t.Helper()
	for _, text := range []string{string(a.get("/v1/audit?sample=200").Body), a.log.String()} {
		for _, said := range a.said {
			if len(said) > 0 && strings.Contains(text, said) {
				a.t.Errorf("a stored text is shown: %q", said)
			}
		}
	}
	if len(out.Sample) == 0 {
		a.t.Error("no sample: the test shows little")
	}
}

// plant plants every fault once, and returns the names of the rows that each box
// must name.
func (a *audited) plant() map[string]string {
	t := a.t
	a.keep("stray", memd.Rule, "Nobody knows whose current version this is", nil)
	a.shell(`DELETE FROM head WHERE memory_key = 'stray'`)
	id := a.keep("sourceless", memd.Rule, "Rests on another memory", nil)
	a.shell(`UPDATE long SET source = 'memd://memories/1' WHERE id = '%s'`, id)
	a.keep("unmarked", memd.Rule, "Was checked long ago", func(r *memd.RememberLongTerm) { r.VerifiedAt = a.ago(200) })
	a.keep("recent", memd.Rule, "Became overdue on thursday", func(r *memd.RememberLongTerm) { r.VerifiedAt = a.ago(93) })
	id = a.keep("dead.url", memd.Rule, "Rests on a page that is gone", func(r *memd.RememberLongTerm) { r.Source = "https://gone.test/x" })
	a.shell(`UPDATE long SET source_status = 'missing' WHERE id = '%s'`, id)
	id = a.keep("changed.url", memd.Rule, "Rests on a page that changed", func(r *memd.RememberLongTerm) { r.Source = "https://changed.test/x" })
	a.shell(`UPDATE long SET source_status = 'changed' WHERE id = '%s'`, id)
	a.keep("dead.file", memd.Rule, "Rests on a page nobody wrote", func(r *memd.RememberLongTerm) { r.Source = "docs/none.md" })
	a.keep("dead.anchor", memd.Rule, "Rests on a section nobody wrote", func(r *memd.RememberLongTerm) { r.Source = "AGENTS.md#none" })
	a.keep("dup.a", memd.Rule, "Generated clients must not be edited by hand", nil)
	a.keep("dup.b", memd.Rule, "Do not edit generated clients by hand", nil)
	a.keep("equal.a", memd.Rule, "Every handler has a timeout", nil)
	a.keep("equal.b", memd.Rule, "Every handler has a timeout", nil)
	a.keep("vague", memd.Practice, "Measure twice and cut once", func(r *memd.RememberLongTerm) { r.HowToApply = "" })
	a.keep("contra.practice", memd.Practice, "Always squash hotfixes into trunk", func(r *memd.RememberLongTerm) { r.Tags = []string{"merge"} })
	a.keep("contra.rules", memd.Rule, "不要 squash anything, for bisecting needs each step", func(r *memd.RememberLongTerm) { r.Tags = []string{"merge"} })
	a.keep("old.version", memd.Practice, "Mount handlers the way chi v4 wants it", nil)
	a.keep("symptom.only", memd.Pitfall, "Symptom: the wheel squeaks", nil)
	id = a.keep("resolved", memd.Pitfall, "Symptom: leaking roof. Fix: new tiles", nil)
	a.shell(`UPDATE long SET resolved_at = '%s' WHERE id = '%s'`, a.ago(1), id)
	id = a.keep("often", memd.Pitfall, "Problem: deadlock at noon. Workaround: restart it", nil)
	for range 3 {
		if _, err := a.server.tiers.Hit(context.Background(), memd.LocalAdmin(), id); err != nil {
			t.Fatal(err)
		}
	}
	id = a.keep("pref.stale", memd.Preference, "Tabs are wanted everywhere", func(r *memd.RememberLongTerm) { r.Source = "user" })
	a.shell(`UPDATE long SET stale = 1, stale_reason = 'age' WHERE id = '%s'`, id)
	a.keep("fact.lost", memd.Fact, "Workers live in internal/workers/pool.go", nil)
	a.keep("fact.trunk", memd.Fact, "默认分支是 master", nil)
	a.remember("lapsed", "Over since two hours", func(r *memd.Remember) { r.ExpiresAt = memd.At(a.clock.Now().Add(time.Hour)) })
	a.remember("lapsing", "Over since half an hour", func(r *memd.Remember) { r.ExpiresAt = memd.At(a.clock.Now().Add(150 * time.Minute)) })
	a.clock.Advance(3 * time.Hour)
	id = a.remember("worthless", "Somebody sneezed", nil)
	a.shell(`UPDATE short SET written_at = '%s' WHERE id = '%s'`, a.ago(20), id)
	id = a.remember("nearly", "Somebody coughed", nil)
	a.shell(`UPDATE short SET written_at = '%s' WHERE id = '%s'`, a.ago(9), id)
	a.keep("outranked", memd.Rule, "Alpacas are fed before noon", nil)
	a.ahead["Alpacas are fed before noon"] = true
	a.keep("leaky", memd.Rule, "The whole sentence that was written down", nil)
	a.shell(`INSERT INTO audit (at, caller, action, detail) VALUES ('%s', 'x', 'x', 'said: The whole sentence that was written down')`, a.ago(0))
	a.keep("leaked", memd.Rule, "How the registry is reached", nil) // by whom no guard saw
	a.shell(`UPDATE long SET raw_content = 'token ghp_%s' WHERE memory_key = 'leaked'`, "q7Xw2Lm9RtZ4kVb8"+"Ns3Hd6Yc1Gf5Pj0QaEuT")
	a.keep("sensitive.open", memd.Fact, "Whom the payroll is about", func(r *memd.RememberLongTerm) { r.Tags = []string{"pii"} })
	a.keep("ownerless", memd.Decision, "We chose sqlite", nil)
	a.fillArchive(3)
	a.makeHoles()
	for _, key := range []string{"ownerless", "leaked"} {
		a.shell(`INSERT INTO embedding (memory_id, model, dim, vec) SELECT id, 'm', 2, x'0102' FROM long WHERE memory_key = '%s'`, key)
	}
	a.shell(`UPDATE meta SET value = '7' WHERE key = 'budgets.long_rows'`)
	return map[string]string{
		"1.1": "stray", "1.2": "sourceless", "1.3": "unmarked", "1.4": "dead.url dead.file dead.anchor", "1.5": "dup.a dup.b equal.a equal.b",
		"2.1": "vague", "2.2": "contra.practice contra.rules", "2.3": "old.version",
		"3.1": "symptom.only", "3.2": "resolved", "3.3": "often",
		"4.1": "pref.stale", "4.2": "fact.lost fact.trunk",
		"5.1": "lapsed", "5.2": "worthless", "5.3": "outranked",
		"7.2": "leaked", "7.3": "sensitive.open", "8.1": "ownerless",
	}
}

// unplant takes away what the check of the store at the end of a test would find.
func (a *audited) unplant() {
	a.shell(`DELETE FROM long WHERE memory_key = 'stray'; DELETE FROM embedding`)
}

// fillArchive puts rows into the archive that no budget was asked about.
func (a *audited) fillArchive(n int) {
	err := a.store.Update(context.Background(), func(tx *store.Tx) error {
		for i := range n {
			m := memd.Memory{ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", i), Tier: memd.Archive, Namespace: projectX, Kind: memd.Event,
				Summary: fmt.Sprint("archived row ", i), Importance: 5, SourceStatus: memd.SourceNone,
				CreatedAt: a.store.Now(), UpdatedAt: a.store.Now(), WrittenAt: a.store.Now(), Tags: []string{}, Access: []string{}}
			m.ContentHash = tiers.ContentHash(&m)
			if err := tx.Insert(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// makeHoles leaves more than a quarter of the active database free.
func (a *audited) makeHoles() {
	a.shell(`CREATE TABLE hole (x BLOB); INSERT INTO hole SELECT randomblob(4000) FROM long, long LIMIT 500; DROP TABLE hole`)
}

// A store in order, groomed, passes every box that applies.
func TestAuditOfHealthyStore(t *testing.T) {
	a := newAudited(t)
	a.healthy()
	a.post("/v1/rollover", "").want(200)
	a.keep("rule.after", memd.Rule, "Written after the database was rolled over", nil)
	a.post("/v1/groom", "{}").want(200)
	out := a.audit("?sample=3")
	for _, b := range out.Boxes {
		if b.Verdict == groom.VerdictFail || len(b.IDs) != 0 || b.Fix != "" {
			var named []string
			for _, id := range b.IDs {
				named = append(named, a.names[id])
			}
			t.Errorf("%+v names %q", b, named)
		}
	}
	if out.Passed != out.Applicable || out.Applicable < 20 || out.Drifting() || out.Failed() {
		t.Errorf("%d of %d pass", out.Passed, out.Applicable)
	}
	if again := a.audit("?sample=3"); len(out.Sample) != 3 || fmt.Sprint(again.Sample) != fmt.Sprint(out.Sample) {
		t.Errorf("the sample of a day is not repeatable: %v and %v", out.Sample, again.Sample)
	}
	for _, s := range out.Sample {
		if s.MemoryKey == "" || s.Source == "" || s.VerifiedAt.IsZero() || s.VerifiedBy == "" || s.Ends == "" {
			t.Errorf("a sampled row cannot answer: %+v", s)
		}
	}
	a.nothingSaid(out)
}

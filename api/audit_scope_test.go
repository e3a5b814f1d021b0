package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/groom"
	"memd/recall"
	"memd/store"
)

// box is the box of a number.
func boxOf(t *testing.T, a groom.Audit, number string) groom.Box {
	t.Helper()
	for _, b := range a.Boxes {
		if strings.HasPrefix(b.Box, number+" ") {
			return b
		}
	}
	t.Fatalf("no box %s", number)
	return groom.Box{}
}

// A box without anything to look at does not apply.
func TestAuditOfEmptyStore(t *testing.T) {
	d := start(t, nil, nil)
	var out groom.Audit
	d.get("/v1/audit?sample=10").want(200).into(&out)
	applies := map[string]bool{"6.1": true, "6.2": true, "7.1": true, "8.3": true}
	for _, b := range out.Boxes {
		want := groom.VerdictNone
		if number, _, _ := strings.Cut(b.Box, " "); applies[number] {
			want = groom.VerdictPass
		}
		if b.Verdict != want || b.How == "" || b.IDs == nil {
			t.Errorf("%+v, want %s", b, want)
		}
	}
	if len(out.Boxes) != 25 || out.Applicable != 4 || out.Passed != 4 || out.Sample == nil || len(out.Sample) != 0 {
		t.Errorf("%d boxes, %d of %d, sample %v", len(out.Boxes), out.Passed, out.Applicable, out.Sample)
	}
}

// An administrator of some namespaces sees nothing of the others, and of restricted
// rows that it does not hold no more than their ids.
func TestAuditStaysInNamespaces(t *testing.T) {
	a := newAudited(t)
	a.healthy()
	a.plant()
	defer a.unplant()
	own, err := a.server.tiers.RememberLongTerm(context.Background(), memd.LocalAdmin(), memd.RememberLongTerm{
		MemoryKey: "own", Summary: "Always test", Kind: memd.Practice, Source: "AGENTS.md", Namespace: "team/own"})
	if err != nil {
		t.Fatal(err)
	}
	token := a.token("own", memd.RoleAdmin, "team/own")
	r := a.do(ask{method: "GET", path: "/v1/audit?sample=200", token: token}).want(200)
	var out groom.Audit
	r.into(&out)
	for id, name := range a.names {
		if strings.Contains(string(r.Body), id) {
			t.Errorf("%s of another namespace is named", name)
		}
	}
	if b := boxOf(t, out, "2.1"); len(b.IDs) != 1 || b.IDs[0] != own.ID || len(out.Sample) != 1 || out.Sample[0].ID != own.ID {
		t.Errorf("2.1: %+v, sample %+v", b, out.Sample)
	}
	if out.Applicable == 25 {
		t.Error("boxes apply for rows of other namespaces")
	}
	all := a.do(ask{method: "GET", path: "/v1/audit?sample=200", token: a.token("all", memd.RoleAdmin)}).want(200)
	if strings.Contains(string(all.Body), `"sensitive.closed"`) {
		t.Error("the sample shows a row whose access tags the caller does not hold")
	}
}

func TestAuditParameters(t *testing.T) {
	d := start(t, nil, nil)
	for _, bad := range []string{"-1", "201", "x", "", "1.5", "9999999999999999999"} {
		d.get("/v1/audit?sample="+bad).refused(400, memd.CodeInvalidRequest, "sample")
	}
	d.get("/v1/audit?sample=1&sample=2").refused(400, memd.CodeInvalidRequest, "sample")
	d.get("/v1/audit?verbose=true").refused(400, memd.CodeInvalidRequest, "verbose")
	for _, good := range []string{"0", "200"} {
		d.get("/v1/audit?sample=" + good).want(200)
	}
}

// Of many rows that fail a box the first hundred are named, and how many more
// there are.
func TestAuditBoundsIDs(t *testing.T) {
	d := start(t, nil, nil)
	for i := range 130 {
		_, err := d.server.tiers.RememberLongTerm(context.Background(), memd.LocalAdmin(), memd.RememberLongTerm{
			MemoryKey: fmt.Sprintf("k%03d", i), Kind: memd.Practice, Summary: fmt.Sprintf("practice number %d of many", i), Source: "AGENTS.md"})
		if err != nil {
			t.Fatal(err)
		}
	}
	var out groom.Audit
	d.get("/v1/audit").want(200).into(&out)
	if b := boxOf(t, out, "2.1"); len(b.IDs) != 100 || !strings.Contains(b.How, "30 more") {
		t.Errorf("%d ids, %s", len(b.IDs), b.How)
	}
	if b := boxOf(t, out, "1.5"); b.Verdict != groom.VerdictPass {
		t.Errorf("numbers differ, yet: %+v", b)
	}
}

// A database that cannot be read fails what depends on its rows, and a recall that
// fails its own box; neither passes for want of rows.
func TestAuditOfUnreadable(t *testing.T) {
	d := start(t, func(o *Options) {
		o.Audit = groom.NewAuditor(groom.AuditorOptions{Store: o.Store, Recall: func(context.Context, memd.Caller, memd.Query) (memd.Answer, error) {
			return memd.Answer{}, errors.New("a cause with a body in it")
		}})
	}, nil)
	d.short("stands in the active database")
	d.long("k", "stands in the active database as well")
	var out groom.Audit
	d.get("/v1/audit").want(200).into(&out)
	if b := boxOf(t, out, "5.3"); b.Verdict != groom.VerdictFail || !strings.Contains(b.How, "store_failed") || strings.Contains(b.How, "cause") {
		t.Errorf("a failing recall: %+v", b)
	}
	if b := boxOf(t, out, "1.1"); b.Verdict != groom.VerdictPass {
		t.Errorf("%+v", b)
	}
}

// As above for a historical database that is damaged.
func TestAuditOfDamagedHistory(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	open := func() *store.Set {
		s, err := store.Open(ctx, store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	d := start(t, nil, nil)
	d.long("k", "a fact of the past")
	d.post("/v1/rollover", "").want(200)
	if _, err := d.store.Backup(ctx, dir+"/b"); err != nil {
		t.Fatal(err)
	}
	copied, err := filepath.Glob(filepath.Join(dir, "b", "*", "*"))
	if err != nil || len(copied) == 0 {
		t.Fatal(copied, err)
	}
	folder := filepath.Dir(copied[0])
	for _, name := range []string{store.ActiveName, store.HistoryDir} {
		if err := os.Rename(filepath.Join(folder, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, store.HistoryDir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open()
	defer s.Close()
	auditor := groom.NewAuditor(groom.AuditorOptions{Store: s, Recall: recall.New(s, nil).Recall})
	out, err := auditor.Audit(ctx, memd.LocalAdmin(), groom.AuditOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"1.1", "1.5", "2.1", "3.1", "4.2", "5.1", "5.2", "6.2", "7.2", "7.3", "8.1"} {
		if b := boxOf(t, out, number); b.Verdict != groom.VerdictFail || !strings.Contains(b.How, filepath.Base(files[0])) || b.Fix == "" {
			t.Errorf("%+v", b)
		}
	}
	if b := boxOf(t, out, "8.3"); b.Verdict != groom.VerdictPass { // meta is the active database's
		t.Errorf("%+v", b)
	}
}

// The groom counts as run where it ended whole within 8 days and none failed since;
// what a capped run left over is named with the way to lift the cap.
func TestAuditOfGrooms(t *testing.T) {
	a := newAudited(t)
	a.healthy()
	a.post("/v1/groom", "{}").want(200)
	report := func(finished memd.Time, light bool, pass string) {
		a.shell(`UPDATE meta SET value = '[{"dry_run":false,"light":%v,"started_at":"%s","finished_at":"%s","passes":[%s]}]' WHERE key = 'groom_reports'`,
			light, finished, finished, pass)
	}
	const failed = `{"name":"vacuum","error":"store_busy"}`
	for _, c := range []struct {
		what string
		days int
		edit func()
		want groom.Verdict
	}{
		{"groomed", 0, func() {}, groom.VerdictPass},
		{"7 days ago", 7, func() {}, groom.VerdictPass},
		{"a later light run failed", 0, func() { report(a.ago(-1), true, failed) }, groom.VerdictPass},
		{"an earlier run failed", 0, func() { report(a.ago(30), false, failed) }, groom.VerdictPass},
		{"a later run failed", 0, func() { report(a.ago(-1), false, failed) }, groom.VerdictFail},
		{"9 days ago", 2, func() { report(a.ago(30), false, "") }, groom.VerdictFail},
		{"never", 0, func() { a.shell(`DELETE FROM meta WHERE key = 'last_groom_at'`) }, groom.VerdictFail},
	} {
		a.clock.Advance(time.Duration(c.days) * 24 * time.Hour)
		c.edit()
		b := boxOf(t, a.audit(""), "8.2")
		if b.Verdict != c.want || strings.Contains(b.How, "vacuum") != (c.what == "a later run failed") {
			t.Errorf("%s: %+v", c.what, b)
		}
	}
	a.shell(`UPDATE short SET written_at = '%s', importance = 1`, a.ago(100))
	report(a.ago(1), false, `{"name":"archive_short","capped":true}`)
	if b := boxOf(t, a.audit(""), "5.2"); b.Verdict != groom.VerdictFail || b.Fix != "memd groom --force" || len(b.IDs) != 2 {
		t.Errorf("capped: %+v", b)
	}
}

// A source that is found with another content resolves, and is counted.
func TestAuditOfChangedSource(t *testing.T) {
	a := newAudited(t)
	id := a.keep("k", memd.Rule, "Rests on a section that was rewritten", nil)
	a.keep("other", memd.Rule, "Rests on a section that was not", nil)
	err := a.store.Update(context.Background(), func(tx *store.Tx) error { return tx.KeepSourceHash(projectX, "k", id, "sha256:00") })
	if err != nil {
		t.Fatal(err)
	}
	if b := boxOf(t, a.audit(""), "1.4"); b.Verdict != groom.VerdictPass || !strings.Contains(b.How, "2 looked at, 0 could not be checked, 1 found with another content") {
		t.Errorf("%+v", b)
	}
}

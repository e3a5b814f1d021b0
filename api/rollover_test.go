package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// historical is how the file of a historical database is named in answers.
var historical = regexp.MustCompile(`^history/agent_memory-\d{8}T\d{6}Z(-\d+)?\.db$`)

// rollOver rolls over and returns what that did.
func (d *daemon) rollOver(body string) store.Rolled {
	d.t.Helper()
	var rolled store.Rolled
	d.post("/v1/rollover", body).want(200).into(&rolled)
	return rolled
}

// results is what a recall finds, as it came.
func (d *daemon) results(body string) string {
	d.t.Helper()
	var answer struct{ Results json.RawMessage }
	d.post("/v1/recall", body).want(200).into(&answer)
	return string(answer.Results)
}

// What a rollover moves out of the active database is where it was for every
// call.
func TestRollover(t *testing.T) {
	d := start(t, nil, nil)
	event, fact := d.short("the gateway restarts at noon"), d.long("net/gateway", "the gateway listens on port 8443")
	const query = `{"query":"when does the gateway restart","touch":false,"explain":true}`
	before := d.results(query)

	rolled := d.rollOver("")
	if !rolled.Rolled || rolled.Reason != "" || !historical.MatchString(rolled.File) || rolled.Rows != 2 || len(rolled.Retired) != 0 {
		t.Errorf("rolled over: %+v", rolled)
	}
	info, err := os.Stat(filepath.Join(d.dir, rolled.File))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() != rolled.Bytes {
		t.Errorf("%s has mode %04o and %d bytes, the answer says %d", rolled.File, info.Mode().Perm(), info.Size(), rolled.Bytes)
	}
	if again := d.rollOver("{}"); again.Rolled || again.Reason != "empty" || again.File != "" {
		t.Errorf("with nothing in the active database: %+v", again)
	}

	if after := d.results(query); after != before {
		t.Errorf("recall finds\n%s\nnot\n%s", after, before)
	}
	for _, path := range []string{"/v1/memories/" + fact.ID, "/v1/keys/net%2Fgateway"} {
		var m memd.Memory
		if d.get(path).want(200).into(&m); m.ID != fact.ID || m.Summary != fact.Summary || m.Version != 1 {
			t.Errorf("%s: %+v", path, m)
		}
	}
	var page memd.Page
	if d.get("/v1/memories").want(200).into(&page); len(page.Memories) != 2 {
		t.Errorf("list: %+v", page)
	}
	var st store.Stats
	if d.get("/v1/stats").want(200).into(&st); len(st.Databases) != 2 || st.Databases[0].File != store.ActiveName || st.Databases[0].Rows != 0 ||
		st.Databases[1].File != rolled.File || st.Databases[1].Rows != 2 {
		t.Errorf("databases: %+v", st.Databases)
	}

	// It is written to as before, too.
	var known memd.Written
	if d.post("/v1/remember", `{"summary":"the gateway restarts at noon"}`).want(200).into(&known); !known.Deduplicated || known.ID != event.ID {
		t.Errorf("remembered again: %+v", known)
	}
	d.patch("/v1/memories/"+event.ID, `{"importance":9}`).want(200)
	d.post("/v1/remember_long_term", `{"memory_key":"net/gateway","summary":"it moved","source":"a.md","base_version":0}`).
		refused(409, memd.CodeVersionConflict, "base_version")
	d.post("/v1/remember_long_term", `{"memory_key":"net/gateway","summary":"the gateway listens on port 9443","source":"a.md","base_version":1}`).want(200)
	var all versions
	if d.get("/v1/keys/net%2Fgateway/versions").want(200).into(&all); len(all.Versions) != 2 || all.Versions[1].ID != fact.ID {
		t.Errorf("versions: %+v", all)
	}
	if d.get("/v1/memories?tier=short").want(200).into(&page); len(page.Memories) != 1 || page.Memories[0].Importance != 9 {
		t.Errorf("list of short: %+v", page)
	}
	for _, path := range []string{"/v1/memories/" + event.ID, "/v1/keys/net%2Fgateway"} {
		d.del(path).want(204)
		d.get(path).refused(404, memd.CodeNotFound, "")
	}
	if found := d.results(query); found != "[]" {
		t.Errorf("forgotten and found: %s", found)
	}
}

// The oldest historical database goes where there would be too many; what is
// owed stays.
func TestRolloverRetires(t *testing.T) {
	d := start(t, nil, func(b *configs.Budgets) { b.HistoryFiles = 1 })
	d.long("net/gateway", "the gateway listens on port 8443")
	first := d.rollOver("")
	d.short("the gateway restarts at noon")
	second := d.rollOver("")
	if second.File == first.File || !slices.Equal(second.Retired, []string{first.File}) {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if _, err := os.Stat(filepath.Join(d.dir, first.File)); !os.IsNotExist(err) {
		t.Errorf("the retired file: %v", err)
	}
	d.get("/v1/keys/net%2Fgateway").want(200)
}

func TestCompact(t *testing.T) {
	d := start(t, nil, nil)
	kept := d.short("kept")
	rolled := d.rollOver("")
	for _, body := range []string{"", "{}"} {
		var done store.Compacted
		d.post("/v1/compact", body).want(200).into(&done)
		var files []string
		freed := int64(0)
		for _, f := range done.Files {
			files, freed = append(files, f.File), freed+f.Before-f.After
			info, err := os.Stat(filepath.Join(d.dir, f.File))
			if err != nil {
				t.Fatal(err)
			}
			if f.Skipped != "" || f.After <= 0 || f.After != info.Size() || info.Mode().Perm() != 0o600 {
				t.Errorf("%+v; the file has mode %04o and %d bytes", f, info.Mode().Perm(), info.Size())
			}
		}
		if !slices.Equal(files, []string{store.ActiveName, rolled.File}) || done.FreedBytes != freed {
			t.Errorf("compacted %+v", done)
		}
	}
	d.get("/v1/memories/" + kept.ID).want(200)
}

func TestRolloverAndCompactAreTheOperators(t *testing.T) {
	d := start(t, nil, nil)
	writer, operator := d.token("writer", memd.RoleWrite), d.token("operator", memd.RoleAdmin)
	for _, path := range []string{"/v1/rollover", "/v1/compact"} {
		d.do(ask{method: "POST", path: path, token: writer}).refused(403, memd.CodeForbidden, "")
		d.do(ask{method: "POST", path: path, token: operator}).want(200)
		d.post(path, `{"now":true}`).refused(400, memd.CodeInvalidRequest, "now")
		d.get(path).refused(405, memd.CodeInvalidRequest, "")
	}
}

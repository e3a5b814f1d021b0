package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// Each fault planted in the shell over two databases, while memd has them open,
// is found with the name of its file, mended after a backup, and not found
// again; where it has no remedy it is left alone.
func TestRepairAcross(t *testing.T) {
	const copied = `id, namespace, kind, memory_key, version, importance, tags, source, source_status, verified_at, verified_by, stale, stale_reason, owner, access, session_id, agent, created_at, updated_at, written_at, last_accessed_at, access_count, expires_at, resolved_at, content_hash, seg_rev, summary, why, how_to_apply, seg, raw_content`
	attached := func(sql string) string { return `ATTACH '$old' AS old; ` + sql }
	first := row(memd.Short, 1, "").ID
	const sane, other = `x'407f', x'03'`, `x'407f00', x'03'`
	for name, c := range map[string]struct {
		active, old    string // SQL for the active and the historical database
		finds, remains string
		holds          string // what the findings say as well
		after          string // of a query of the active database, then =, and its result
	}{
		"sound":         {},
		"index":         {old: `INSERT INTO short_fts (short_fts, rowid, summary, detail, labels, seg) SELECT 'delete', rid, summary, detail, labels, seg FROM short_text`, finds: "index", holds: "$file"},
		"index pages":   {old: `UPDATE short_fts_data SET block = x'00' WHERE id = 10`, finds: "index", holds: "$file"},
		"index content": {old: `DELETE FROM short_fts_data WHERE id > 10`, finds: "index", holds: "$file"},
		"tally":         {old: `UPDATE tally SET chars = 1 WHERE tier = 'long'`, finds: "tally", holds: "$file"},
		"vector":        {old: `INSERT INTO embedding VALUES ('nobody', 'm', 2, ` + sane + `)`, finds: "orphan_vector catalogue", holds: "$file"},
		"reindex":       {old: `INSERT INTO short_reindex VALUES (999, 1)`, finds: "orphan_reindex", holds: "$file"},
		"outbox":        {active: `INSERT INTO outbox (memory_id, queued_at) VALUES ('nobody', '')`, finds: "orphan_outbox"},
		"outbox in old": {old: `INSERT INTO outbox (memory_id, queued_at) VALUES ('nobody', '')`, finds: "orphan_outbox", holds: "$file"},
		"outbox of old": {active: `INSERT INTO outbox (memory_id, queued_at) VALUES ('` + first + `', '')`},
		"journal":       {old: `PRAGMA journal_mode = WAL`, finds: "journal_mode", holds: "$file"},
		"counts":        {active: `UPDATE history SET short = 7`, finds: "catalogue", holds: "$file"},
		"left over":     {old: `INSERT INTO session VALUES ('s', 'somebody', '')`, finds: "left_over", holds: "$file"},
		"meta": {old: `INSERT INTO meta SELECT 'k' || value, '', '' FROM (WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 200) SELECT value FROM n)`,
			finds: "meta_rows", holds: "$file"},
		"head nowhere": {active: `UPDATE head SET id = 'nobody' WHERE memory_key = 'key-2'`, finds: "head_target", holds: "$file",
			after: `SELECT version, id IS NULL, file IS NULL FROM head WHERE memory_key = 'key-2'=1|1|1`},
		"head in the wrong file": {active: `UPDATE head SET file = NULL WHERE memory_key = 'key-2'`, finds: "head_target",
			after: `SELECT version, file = '$file' FROM head WHERE memory_key = 'key-2'=1|1`},
		"head in an unknown file": {active: `UPDATE head SET file = 'agent_memory-20200101T000000Z.db' WHERE memory_key = 'key-2'`, finds: "head_target",
			after: `SELECT version, file = '$file' FROM head WHERE memory_key = 'key-2'=1|1`},
		"head of another version": {active: `UPDATE head SET version = 5 WHERE memory_key = 'key-2'`, finds: "head_target",
			after: `SELECT version, file = '$file' FROM head WHERE memory_key = 'key-2'=1|1`},
		"no heads": {active: `DELETE FROM head`, finds: "headless_key",
			after: `SELECT count(*), sum(file = '$file'), sum(file IS NULL) FROM head WHERE id IS NOT NULL=2|1|1`},
		"no head of what was forgotten": {active: `DELETE FROM head WHERE memory_key = 'key-2'; INSERT INTO tombstone VALUES ('x', 'default', 'key-2', '', '')`,
			finds: "headless_key", remains: "headless_key"},
		"head behind": {old: `UPDATE long SET version = 3`, finds: "head_target head_behind",
			after: `SELECT version, file = '$file' FROM head WHERE memory_key = 'key-2'=3|1`},
		"relic heads": {old: `UPDATE head SET version = 9, id = 'nobody'`},
		"short twice": {active: attached(`INSERT INTO short (` + copied + `) SELECT ` + copied + ` FROM old.short`), finds: "one_place", holds: "$file"},
		"long twice": {active: attached(`INSERT INTO long (` + copied + `) SELECT ` + copied + ` FROM old.long`), finds: "one_place", holds: "$file",
			after: `SELECT version, file = '$file', (SELECT count(*) FROM long) FROM head WHERE memory_key = 'key-2'=1|1|1`},
		"in two tiers": {old: `INSERT INTO archive (` + copied + `) SELECT ` + copied + ` FROM short`, finds: "one_place", holds: "$file"},
		"dead copy": {active: attached(`INSERT INTO short (` + copied + `) SELECT ` + copied + ` FROM old.short;
 INSERT INTO gone SELECT id, '$file', 'short' FROM old.short`)},
		"no signs":     {old: `INSERT INTO embedding SELECT id, 'm', 2, x'407f', x'02' FROM short`, finds: "bad_vector catalogue", holds: "$file"},
		"sign of none": {active: `INSERT INTO embedding SELECT id, 'm', 2, x'81ff', x'01' FROM short`, finds: "bad_vector", holds: "signs"},
		"no bits":      {active: `INSERT INTO embedding (memory_id, model, dim, vec) SELECT id, 'm', 2, x'407f' FROM short`, finds: "bad_vector", holds: "has 0 bytes of bits, not 1"},
		"small number": {active: `INSERT INTO embedding SELECT id, 'm', 2, x'007f', x'03' FROM short`},
		"short vector": {active: `INSERT INTO embedding SELECT id, 'm', 3, ` + sane + ` FROM short`, finds: "bad_vector", holds: "has 2 bytes, not 3"},
		"no vector":    {active: `INSERT INTO embedding SELECT id, 'm', 0, x'', x'' FROM short`, finds: "bad_vector", holds: "is empty"},
		"zero vector":  {active: `INSERT INTO embedding SELECT id, 'm', 2, x'0000', x'00' FROM short`, finds: "bad_vector", holds: "is zero"},
		"two models": {active: `UPDATE meta SET value = CASE key WHEN 'embedder' THEN 'm' ELSE '2' END WHERE key IN ('embedder', 'embedder_dim');
 INSERT INTO embedding SELECT id, 'm', 2, ` + sane + ` FROM short; INSERT INTO embedding SELECT id, 'm', 3, ` + other + ` FROM long`,
			old: `INSERT INTO embedding SELECT id, 'another', 2, ` + sane + ` FROM short`, finds: "mixed_models catalogue",
			after: `SELECT (SELECT group_concat(model || dim) FROM embedding), (SELECT count(*) FROM outbox)=m2|1`},
		"two models, one waits": {active: `UPDATE meta SET value = CASE key WHEN 'embedder' THEN 'm' ELSE '2' END WHERE key IN ('embedder', 'embedder_dim');
 INSERT INTO embedding SELECT id, 'm', 3, ` + other + ` FROM long; INSERT INTO outbox (memory_id, queued_at) SELECT id, '' FROM long`},
		"two models and no embedder": {active: `INSERT INTO embedding SELECT id, 'm', 2, ` + sane + ` FROM short; INSERT INTO embedding SELECT id, 'm', 3, ` + other + ` FROM long`,
			finds: "mixed_models", remains: "mixed_models"},
		"an older row alone": {old: `UPDATE short SET updated_at = 'then'`, finds: "times", remains: "times", holds: "$file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, path := rolled(t, dir)
			defer s.Close()
			fill := strings.NewReplacer("$old", path, "$file", filepath.Base(path)).Replace
			if c.active != "" {
				shell(t, dir, fill(c.active))
			}
			if c.old != "" {
				shellOn(t, path, fill(c.old))
			}
			before, told := kinds(t, s)
			if before != c.finds || !strings.Contains(told, fill(c.holds)) {
				t.Fatalf("found %q, want %q\n%s", before, c.finds, told)
			}
			done, err := s.Repair(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range done.Mended {
				if !strings.Contains(before, m.Check) {
					t.Errorf("mended %+v, found were %q", m, before)
				}
			}
			if after, told := kinds(t, s); after != c.remains {
				t.Errorf("found afterwards %q, want %q\n%s", after, c.remains, told)
			}
			if (done.Backup != "") != (c.finds != c.remains) {
				t.Errorf("a backup in %q", done.Backup)
			}
			if at := strings.LastIndex(c.after, "="); at > 0 {
				if got := shell(t, dir, fill(c.after[:at])); got != c.after[at+1:] {
					t.Errorf("%s is %q", fill(c.after), got)
				}
			}
			if name != "dead copy" { // the write that left it would have told readers
				finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
			}
			if again, err := s.Repair(ctx); err != nil || len(again.Mended) != 0 || again.Backup != "" {
				t.Errorf("a second repair did %+v, %v", again, err)
			}
		})
	}
}

// kinds are the names of what a check finds, each once, and all that it says.
func kinds(t testing.TB, s *store.Set) (names, told string) {
	t.Helper()
	told = details(t, s, false)
	var all []string
	for line := range strings.Lines(told) {
		kind, _, _ := strings.Cut(line, ": ")
		if !strings.Contains(" "+strings.Join(all, " ")+" ", " "+kind+" ") {
			all = append(all, kind)
		}
	}
	return strings.Join(all, " "), told
}

// Without auto_vacuum, as a VACUUM in the shell may leave it, deletions give no
// space back.
func TestRepairVacuumInHistory(t *testing.T) {
	dir, path := rolledClosed(t)
	shellOn(t, path, `PRAGMA auto_vacuum = 0; VACUUM`)
	s := openBare(t, dir)
	defer s.Close()
	if names, told := kinds(t, s); names != "auto_vacuum" || !strings.Contains(told, filepath.Base(path)) {
		t.Fatalf("found %s", told)
	}
	if done, err := s.Repair(ctx); err != nil || len(done.Mended) != 1 {
		t.Errorf("repaired %+v, %v", done, err)
	}
	healthy(t, s)
	finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
}

// Where one historical database is damaged nothing is touched in any.
func TestRepairLeavesDamagedHistoryAlone(t *testing.T) {
	dir, path := rolledClosed(t)
	shell(t, dir, `UPDATE tally SET rows = 9`)
	text, err := os.ReadFile(path)
	must(t, err)
	at := strings.Index(string(text), "old archived") &^ 4095
	for i := at; i < at+100; i++ {
		text[i] = byte(i*7 + 1)
	}
	must(t, os.WriteFile(path, text, 0o600))
	s := openBare(t, dir)
	defer s.Close()
	found, err := s.Check(ctx, false)
	must(t, err)
	named := false
	for _, f := range found {
		named = named || f.Check == "integrity" && strings.Contains(f.Detail+f.Fix, filepath.Base(path)) && strings.Contains(f.Fix, "memd restore")
	}
	if !named {
		t.Errorf("found %+v", found)
	}
	if done, err := s.Repair(ctx); err != nil || done.Backup != "" || len(done.Mended) != 0 {
		t.Errorf("repaired %+v, %v", done, err)
	}
}

// A historical database is given up by a person alone: its line taken out of
// the catalogue, the rest is mended. Counters stay.
func TestGiveUp(t *testing.T) {
	dir, path := rolledClosed(t)
	must(t, os.Remove(path))
	s := openBare(t, dir)
	if done, err := s.Repair(ctx); err != nil || len(done.Mended) != 0 {
		t.Errorf("repaired %+v, %v", done, err)
	}
	must(t, s.Close())
	if got := shell(t, dir, `SELECT file FROM head WHERE memory_key = 'key-2'`); got != filepath.Base(path) {
		t.Errorf("the head names %q", got)
	}
	shell(t, dir, `DELETE FROM history WHERE file = '`+filepath.Base(path)+`'`)
	s = openBare(t, dir)
	defer s.Close()
	if done, err := s.Repair(ctx); err != nil || len(done.Mended) != 1 || done.Mended[0].Check != "head_target" {
		t.Errorf("repaired %+v, %v", done, err)
	}
	healthy(t, s)
	if h, ok := head(t, s, "key-2"); !ok || h.Version != 1 || h.ID != "" {
		t.Errorf("head %+v, %v", h, ok)
	}
}

// What lies in history/ and is not in the catalogue is named, whatever it is,
// and not touched.
func TestStrays(t *testing.T) {
	cases := strange(t)
	cases["database"] = struct {
		lay  func(path string)
		says string
	}{func(path string) {
		_, from := rolledClosed(t)
		must(t, os.Rename(from, path))
	}, "is a database of memd"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := openBare(t, t.TempDir())
			defer s.Close()
			folder := filepath.Join(s.Dir(), store.HistoryDir)
			c.lay(filepath.Join(folder, "agent_memory-20200101T000000Z.db"))
			before := listing(t, folder)
			for _, quick := range []bool{true, false} {
				if got := details(t, s, quick); !strings.HasPrefix(got, "stray_file: history/agent_memory-20200101T000000Z.db: ") || !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
					t.Errorf("found %q, want %q", got, c.says)
				}
			}
			if done, err := s.Repair(ctx); err != nil || len(done.Mended) != 0 || done.Backup != "" {
				t.Errorf("repaired %+v, %v", done, err)
			}
			if _, err := s.Settle(ctx, true); err != nil {
				t.Error(err)
			}
			if after := listing(t, folder); after != before {
				t.Errorf("history/ was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// States that are left at the next start are findings while nobody leaves them.
func TestCheckCutShort(t *testing.T) {
	for _, state := range []string{"copying", "retired", "retiring"} {
		t.Run(state, func(t *testing.T) {
			dir := t.TempDir()
			s, path := rolled(t, dir)
			shell(t, dir, `UPDATE history SET state = '`+state+`'`)
			await(t, "a finding", func() bool { return strings.Contains(details(t, s, true), "is "+state) })
			must(t, s.Close())
			s = openBare(t, dir)
			defer s.Close()
			if state == "retiring" { // there is no other file: it stays
				if !exists(path) {
					t.Error("the file is gone")
				}
				return
			}
			healthy(t, s)
		})
	}
}

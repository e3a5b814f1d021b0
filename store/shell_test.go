package store_test

import (
	"fmt"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/migrations"
	"memd/store"
)

// The indexed tiers, each with one row of its own words, in a store that
// stays open while the shell works on it.
func shellStore(t *testing.T) (s *store.Set, short, long, cold memd.Memory) {
	s = memtest.Store(t, "", nil, nil)
	short = row(memd.Short, 1, "the zephyr build listens on port 8080 设备重启")
	long = row(memd.Long, 2, "the quokka deploy needs approval 数据迁移")
	cold = row(memd.Archive, 3, "the narwhal cache was flushed 缓存")
	note := row(memd.Transient, 4, "a passing note")
	put(t, s, short, long, cold, note)
	return s, short, long, cold
}

func TestShellReadsEverything(t *testing.T) {
	s, short, long, cold := shellStore(t)
	for _, table := range []string{"transient", "short", "long", "archive"} {
		if got := shell(t, s.Dir(), `SELECT count(*) FROM `+table); got != "1" {
			t.Errorf("%s has %s rows for the shell, want 1", table, got)
		}
	}
	if got := shell(t, s.Dir(), `SELECT value FROM meta WHERE key = 'schema_version'`); got != fmt.Sprint(migrations.Latest) {
		t.Errorf("meta tells schema %q", got)
	}
	got := shell(t, s.Dir(), `SELECT tier, id, namespace, kind, coalesce(memory_key, '-'), coalesce(version, '-'), is_head,
 importance, stale, coalesce(source, '-') FROM memory WHERE tier <> 'transient' ORDER BY id`)
	want := "short|" + short.ID + "|default|fact|-|-|1|5|0|-\n" +
		"long|" + long.ID + "|default|fact|key-2|1|1|5|0|AGENTS.md#x\n" +
		"archive|" + cold.ID + "|default|fact|-|-|1|5|0|-"
	if got != want {
		t.Errorf("view memory shows\n%s\nwant\n%s", got, want)
	}
	if got := shell(t, s.Dir(), `SELECT summary, updated_at, typeof(age_days) FROM memory WHERE id = '`+short.ID+`'`); got !=
		short.Summary+"|2026-11-30T02:00:00.000Z|integer" {
		t.Errorf("view memory shows %s", got)
	}
	if got := shell(t, s.Dir(), `SELECT budget, used, "limit" FROM budget WHERE budget IN ('short_rows', 'long_rows', 'archive_rows', 'transient_rows') ORDER BY 1`); got !=
		"archive_rows|1|50000\nlong_rows|1|2000\nshort_rows|1|5000\ntransient_rows|1|500" {
		t.Errorf("view budget shows\n%s", got)
	}
	used := shell(t, s.Dir(), `SELECT used > 0 AND used < "limit" FROM budget WHERE budget = 'active_bytes'`)
	if used != "1" {
		t.Errorf("view budget measures active_bytes wrongly: %s", used)
	}
	settings := shell(t, s.Dir(), `SELECT count(*) FROM budget`)
	if got := shell(t, s.Dir(), `SELECT count(*) FROM meta WHERE key LIKE 'budgets.%'`); got != settings || got == "0" {
		t.Errorf("view budget has %s rows, meta holds %s budgets", settings, got)
	}
}

func TestShellEditsMetadata(t *testing.T) {
	s, short, long, cold := shellStore(t)
	for _, m := range []memd.Memory{short, long, cold} {
		tier := string(m.Tier)
		out := shell(t, s.Dir(), `UPDATE `+tier+` SET importance = 9, tags = '["wombat","R&D"]' WHERE id = '`+m.ID+`';`+indexCheck)
		if out != "ok" {
			t.Fatalf("%s: integrity_check says %s", tier, out)
		}
		got, _ := get(t, s, m.ID)
		if got.Importance != 9 || strings.Join(got.Tags, "|") != "wombat|R&D" {
			t.Errorf("%s: after the edit importance %d, tags %q", tier, got.Importance, got.Tags)
		}
		finds(t, s, m.Tier, "wombat", m)
		finds(t, s, m.Tier, m.Summary, m)
		healthy(t, s)
		shell(t, s.Dir(), `UPDATE `+tier+` SET tags = '[]' WHERE id = '`+m.ID+`'`)
		finds(t, s, m.Tier, "wombat")
	}
}

func TestShellEditsSummary(t *testing.T) {
	s, short, long, cold := shellStore(t)
	for _, c := range []struct {
		m                     memd.Memory
		oldWord, oldCJK, want string
	}{
		{short, "zephyr", "重启", "the falcon build listens on port 9090 服务停止"},
		{long, "quokka", "迁移", "the badger deploy is free 归档完成"},
		{cold, "narwhal", "缓存", "the walrus cache is warm 索引"},
	} {
		tier := string(c.m.Tier)
		newWord := strings.Fields(c.want)[1]
		finds(t, s, c.m.Tier, c.oldWord, c.m)
		finds(t, s, c.m.Tier, c.oldCJK, c.m)
		out := shell(t, s.Dir(), `UPDATE `+tier+` SET summary = '`+c.want+`' WHERE id = '`+c.m.ID+`';`+indexCheck)
		if out != "ok" {
			t.Fatalf("%s: integrity_check says %s", tier, out)
		}
		finds(t, s, c.m.Tier, newWord, c.m)
		finds(t, s, c.m.Tier, c.oldWord)
		finds(t, s, c.m.Tier, c.oldCJK)
		healthy(t, s)
		// Twice in a row, several rows at once, and mixed with metadata.
		shell(t, s.Dir(), `UPDATE `+tier+` SET summary = summary || ' again', importance = 3, tags = '["otter"]';
UPDATE `+tier+` SET summary = replace(summary, ' again', ' once more');`+indexCheck)
		finds(t, s, c.m.Tier, "again")
		finds(t, s, c.m.Tier, "once", c.m)
		finds(t, s, c.m.Tier, "otter", c.m)
		healthy(t, s)
	}
}

// A hand edit of a row that memd writes again afterwards leaves index and row
// in step.
func TestShellEditThenDaemonWrite(t *testing.T) {
	s, short, _, _ := shellStore(t)
	shell(t, s.Dir(), `UPDATE short SET summary = 'the falcon build 服务停止' WHERE id = '`+short.ID+`'`)
	m, _ := get(t, s, short.ID)
	m.Tags = []string{"patched"}
	write(t, s, func(tx *store.Tx) error { return tx.UpdateMeta(&m) })
	finds(t, s, memd.Short, "patched", m)
	finds(t, s, memd.Short, "falcon", m)
	finds(t, s, memd.Short, "zephyr")
	finds(t, s, memd.Short, "重启")
	healthy(t, s)
	cold := m
	cold.Tier = memd.Archive
	write(t, s, func(tx *store.Tx) error { return tx.Move(&cold, memd.Short) })
	finds(t, s, memd.Short, "falcon")
	finds(t, s, memd.Archive, "falcon", cold)
	finds(t, s, memd.Archive, "停止", cold)
}

func TestShellEditDropsVector(t *testing.T) {
	for _, embedder := range []string{"none", "hash-256"} {
		t.Run(embedder, func(t *testing.T) {
			s, short, long, cold := shellStore(t)
			shell(t, s.Dir(), `UPDATE meta SET value = '`+embedder+`' WHERE key = 'embedder'`)
			queued := map[string]string{"none": "0", "hash-256": "1"}[embedder]
			for _, m := range []memd.Memory{short, long, cold} {
				shell(t, s.Dir(), `INSERT INTO embedding VALUES ('`+m.ID+`', 'hash', 2, x'407f', x'03');
UPDATE `+string(m.Tier)+` SET importance = 7, tags = '["x"]' WHERE id = '`+m.ID+`'`)
				if got := shell(t, s.Dir(), `SELECT count(*) FROM embedding WHERE memory_id = '`+m.ID+`'`); got != "1" {
					t.Errorf("%s: an edit of metadata dropped the vector", m.Tier)
				}
				shell(t, s.Dir(), `UPDATE `+string(m.Tier)+` SET summary = 'new words' WHERE id = '`+m.ID+`'`)
				if got := shell(t, s.Dir(), `SELECT count(*) FROM embedding WHERE memory_id = '`+m.ID+`'`); got != "0" {
					t.Errorf("%s: the vector of the old words stayed", m.Tier)
				}
				if got := shell(t, s.Dir(), `SELECT count(*) FROM outbox WHERE memory_id = '`+m.ID+`'`); got != queued {
					t.Errorf("%s: %s rows wait for a vector under embedder %s, want %s", m.Tier, got, embedder, queued)
				}
				shell(t, s.Dir(), `DELETE FROM `+string(m.Tier)+` WHERE id = '`+m.ID+`'`)
			}
			if got := shell(t, s.Dir(), `SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM embedding)`); got != "0" {
				t.Errorf("%s vectors or outbox entries outlive their rows", got)
			}
		})
	}
}

func TestShellDeletes(t *testing.T) {
	s, short, long, cold := shellStore(t)
	shell(t, s.Dir(), `UPDATE short SET summary = 'edited 文字' WHERE id = '`+short.ID+`'`) // a row that waits to be indexed anew
	for _, m := range []memd.Memory{short, long, cold} {
		out := shell(t, s.Dir(), `DELETE FROM `+string(m.Tier)+` WHERE id = '`+m.ID+`';`+indexCheck)
		if out != "ok" {
			t.Fatalf("%s: integrity_check says %s", m.Tier, out)
		}
		finds(t, s, m.Tier, m.Summary)
		if _, ok := get(t, s, m.ID); ok {
			t.Errorf("%s: the deleted row is still read", m.Tier)
		}
		healthy(t, s)
	}
	view(t, s, func(v *store.View) error {
		rows, chars, err := v.Corpus()
		if rows != 0 || chars != 0 {
			t.Errorf("the tally holds %d rows of %d characters after all were deleted", rows, chars)
		}
		return err
	})
}

// Deleting a head by hand takes the key out of recall; no older version comes
// back, and the next one continues the count.
func TestShellDeleteOfHead(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	v1, v2 := row(memd.Long, 1, "the aardvark rule, first wording"), row(memd.Long, 2, "the aardvark rule, second wording")
	v2.MemoryKey, v2.Version = v1.MemoryKey, 2
	put(t, s, v1, v2)
	finds(t, s, memd.Long, "aardvark", v2)
	finds(t, s, memd.Long, "first") // only the old wording matches
	shell(t, s.Dir(), `DELETE FROM long WHERE id = '`+v2.ID+`';`+indexCheck)
	finds(t, s, memd.Long, "aardvark")
	if h, ok := head(t, s, v1.MemoryKey); !ok || h != (store.Head{Version: 2}) {
		t.Errorf("head is %+v, %v after the delete; want version 2 without a row", h, ok)
	}
	if got := shell(t, s.Dir(), `SELECT is_head FROM memory WHERE id = '`+v1.ID+`'`); got != "0" {
		t.Error("view memory shows the old version as head")
	}
	view(t, s, func(v *store.View) error {
		rows, err := v.List(store.Selection{Scope: scope(), Tiers: []memd.Tier{memd.Long}, Limit: 10})
		if len(rows) != 0 {
			t.Errorf("a list shows %d rows of a key without a head", len(rows))
		}
		return err
	})
	healthy(t, s)
	v3 := row(memd.Long, 3, "the aardvark rule, third wording")
	v3.MemoryKey, v3.Version = v1.MemoryKey, 3
	put(t, s, v3)
	finds(t, s, memd.Long, "aardvark", v3)
	// Deleting the old version leaves the head alone.
	shell(t, s.Dir(), `DELETE FROM long WHERE id = '`+v1.ID+`'`)
	finds(t, s, memd.Long, "aardvark", v3)
	if h, _ := head(t, s, v1.MemoryKey); h != (store.Head{Version: 3, ID: v3.ID}) {
		t.Errorf("head is %+v", h)
	}
}

// An archived version is the head of its key until a newer one is written.
func TestShellShowsArchivedHeads(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	isHead := func(m memd.Memory) string {
		return shell(t, s.Dir(), `SELECT is_head FROM memory WHERE id = '`+m.ID+`'`)
	}
	v1 := row(memd.Long, 1, "the aardvark trap, first wording")
	put(t, s, v1)
	cold := v1
	cold.Tier = memd.Archive
	write(t, s, func(tx *store.Tx) error { return tx.Move(&cold, memd.Long) })
	if got := isHead(cold); got != "1" {
		t.Errorf("is_head %s for the archived version that is the newest", got)
	}
	v2 := row(memd.Long, 2, "the aardvark trap, second wording")
	v2.MemoryKey, v2.Version = v1.MemoryKey, 2
	put(t, s, v2)
	if got := isHead(cold) + isHead(v2); got != "01" {
		t.Errorf("is_head %s for the archived version and its successor, want 01", got)
	}
}

// The tally of notes follows a summary that was edited by hand.
func TestShellEditsNote(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	a, b := row(memd.Transient, 1, "five5"), row(memd.Transient, 2, "keeps")
	put(t, s, a, b)
	tally := func(want string) {
		t.Helper()
		if got := shell(t, s.Dir(), `SELECT rows, chars FROM tally WHERE tier = 'transient'`); got != want {
			t.Errorf("the tally has %s, want %s", got, want)
		}
		healthy(t, s)
	}
	shell(t, s.Dir(), `UPDATE transient SET summary = '十二個字符的手改的說明' || 'x' WHERE id = '`+a.ID+`'`)
	tally("2|17")
	shell(t, s.Dir(), `DELETE FROM transient WHERE id = '`+a.ID+`'`)
	tally("1|5")
}

func TestShellRefusesNonsense(t *testing.T) {
	s, _, _, _ := shellStore(t)
	for _, sql := range []string{
		`UPDATE short SET importance = 11`,
		`UPDATE long SET importance = 0`,
		`UPDATE archive SET importance = 'high'`,
		`UPDATE short SET importance = NULL`,
		`UPDATE short SET tags = 'a, b'`,
		`UPDATE long SET tags = '{"a":1}'`,
		`UPDATE archive SET tags = '["a"'`,
		`UPDATE long SET tags = NULL`,
		`UPDATE short SET access = 'secret'`,
		`UPDATE long SET summary = NULL`,
		`UPDATE short SET stale = 2`,
		`UPDATE long SET source_status = 'fine'`,
	} {
		if out, err := tryShell(t, s.Dir(), sql); err == nil {
			t.Errorf("%s was accepted: %s", sql, out)
		}
	}
}

func TestShellVacuumWhileClosed(t *testing.T) {
	dir := t.TempDir()
	s := memtest.Store(t, dir, nil, nil)
	var kept []memd.Memory
	for n := range 60 {
		m := row(memd.Short, n, "the numbered pelican 文字处理 number"+string(rune('a'+n%26)))
		put(t, s, m)
		kept = append(kept, m)
	}
	keyed := row(memd.Long, 100, "the keyed pelican")
	put(t, s, keyed)
	write(t, s, func(tx *store.Tx) error { // holes, which VACUUM closes
		for _, m := range kept[:40] {
			if _, err := tx.Delete(memd.Short, m.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out := shell(t, dir, `UPDATE short SET summary = summary || ' marked' WHERE id = '`+kept[41].ID+`'; VACUUM;`+indexCheck); out != "ok" {
		t.Fatalf("integrity_check says %s", out)
	}
	s = memtest.Store(t, dir, nil, nil)
	finds(t, s, memd.Short, "pelican", kept[40:]...)
	finds(t, s, memd.Short, "字处", append(append([]memd.Memory{}, kept[40]), kept[42:]...)...)
	finds(t, s, memd.Short, "marked", kept[41])
	finds(t, s, memd.Long, "pelican", keyed)
	if got := shell(t, dir, `PRAGMA auto_vacuum`); got != "2" {
		t.Errorf("auto_vacuum is %s after VACUUM", got)
	}
}

// A shell may vacuum, back up and checkpoint while the daemon has the
// database open; what its connections have compiled goes on working.
func TestShellMaintainsWhileOpen(t *testing.T) {
	s, short, long, cold := shellStore(t)
	for round, sql := range []string{
		`VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`, `ANALYZE`, `REINDEX`, `INSERT INTO short_fts (short_fts) VALUES ('optimize')`,
		`INSERT INTO long_fts (long_fts) VALUES ('rebuild')`, `CREATE TABLE scratch (x); DROP TABLE scratch`,
		`.backup ` + t.TempDir() + `/copy.db`,
	} {
		shell(t, s.Dir(), sql)
		finds(t, s, memd.Short, "zephyr", short)
		finds(t, s, memd.Short, "重启", short)
		finds(t, s, memd.Long, "quokka", long)
		finds(t, s, memd.Archive, "narwhal", cold)
		m := row(memd.Short, 100+round, "written after "+strings.Fields(sql)[0])
		put(t, s, m)
		write(t, s, func(tx *store.Tx) error {
			_, err := tx.Delete(memd.Short, m.ID)
			return err
		})
		healthy(t, s)
	}
}

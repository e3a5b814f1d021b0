package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// Each fault planted in the shell is mended, after a backup, and told; what has
// no remedy is left as it is.
func TestRepair(t *testing.T) {
	for name, c := range map[string]struct{ plant, mends, remains string }{
		"sound":          {plant: `SELECT 1`},
		"index":          {`INSERT INTO short_fts (short_fts, rowid, summary, detail, labels, seg) SELECT 'delete', rid, summary, detail, labels, seg FROM short_text`, "index", ""},
		"index of pages": {`UPDATE archive_fts_data SET block = x'00' WHERE id = 10`, "index", ""},
		"tally":          {`UPDATE tally SET rows = rows + 3, chars = 1`, "tally", ""},
		"vector":         {`INSERT INTO embedding VALUES ('nobody', 'm', 1, x'7f', x'01')`, "orphan_vector", ""},
		"outbox":         {`INSERT INTO outbox (memory_id, queued_at) VALUES ('nobody', '')`, "orphan_outbox", ""},
		"reindex":        {`INSERT INTO long_reindex VALUES (999, 1)`, "orphan_reindex", ""},
		"head nowhere":   {`UPDATE head SET id = 'nobody'`, "head_target", ""},
		"head version":   {`UPDATE head SET version = 9`, "head_target", ""},
		"two at once":    {`UPDATE tally SET rows = 0; INSERT INTO outbox (memory_id, queued_at) VALUES ('nobody', '')`, "orphan_outbox tally", ""},
		"auto_vacuum":    {`PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM`, "auto_vacuum", ""},
		"no head":        {`DELETE FROM head`, "headless_key", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openBare(t, dir)
			put(t, s, row(memd.Short, 1, "a short row"), row(memd.Long, 2, "a long row"), row(memd.Archive, 3, "an archived row"))
			must(t, s.Close())
			shell(t, dir, c.plant)
			s = openBare(t, dir)
			defer s.Close()
			before := findings(t, s)
			done, err := s.Repair(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var mended []string
			for _, m := range done.Mended {
				mended = append(mended, m.Check)
				if !strings.Contains(before, m.Check) || m.Detail == "" || strings.Contains(m.Detail, "long row") {
					t.Errorf("mended %+v, found were %q", m, before)
				}
			}
			if got := strings.Join(mended, " "); got != c.mends {
				t.Errorf("mended %q, want %q (found %q)", got, c.mends, before)
			}
			if got := findings(t, s); got != c.remains {
				t.Errorf("found afterwards: %q, want %q", got, c.remains)
			}
			if (done.Backup != "") != (c.mends != "") {
				t.Errorf("a backup in %q", done.Backup)
			}
			if done.Backup != "" && !exists(filepath.Join(done.Backup, store.ManifestName)) {
				t.Errorf("no backup in %s", done.Backup)
			}
			finds(t, s, memd.Short, "short", row(memd.Short, 1, ""))
			finds(t, s, memd.Archive, "archived", row(memd.Archive, 3, ""))
			if h, ok := head(t, s, "key-2"); name == "head version" && (!ok || h.ID != row(memd.Long, 2, "").ID || h.Version != 1) {
				t.Errorf("the head is lost: %+v", h)
			}
			if again, err := s.Repair(ctx); err != nil || len(again.Mended) != 0 || again.Backup != "" {
				t.Errorf("a second repair did %+v, %v", again, err)
			}
		})
	}
}

// findings are the names of what a check finds.
func findings(t testing.TB, s *store.Set) string {
	t.Helper()
	found, err := s.Check(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range found {
		if len(all) == 0 || all[len(all)-1] != f.Check {
			all = append(all, f.Check)
		}
		if !strings.Contains(f.Fix, "memd doctor --repair") {
			t.Errorf("%s: %s names no remedy: %q", f.Check, f.Detail, f.Fix)
		}
	}
	return strings.Join(all, " ")
}

// Where pages are damaged nothing is touched, and a backup is the way out.
func TestRepairLeavesDamageAlone(t *testing.T) {
	dir := t.TempDir()
	s := openBare(t, dir)
	for n := range 200 {
		put(t, s, row(memd.Short, n, "row with words "+strings.Repeat("filling ", 50)))
	}
	must(t, s.Close())
	path := filepath.Join(dir, store.ActiveName)
	text, err := os.ReadFile(path)
	must(t, err)
	at := strings.Index(string(text), "row with words filling") &^ 4095
	for i := at; i < at+100; i++ {
		text[i] = byte(i*7 + 1)
	}
	must(t, os.WriteFile(path, text, 0o600))
	s, err = open(dir)
	must(t, err)
	defer s.Close()
	found, err := s.Check(ctx, false)
	if len(found) == 0 || found[0].Check != "integrity" || !strings.Contains(found[0].Fix, "memd restore") {
		t.Fatalf("found %v, %v", found, err)
	}
	done, err := s.Repair(ctx)
	if done.Backup != "" || len(done.Mended) != 0 {
		t.Errorf("repaired %+v, %v", done, err)
	}
}

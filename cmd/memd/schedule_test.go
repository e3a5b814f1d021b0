package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// A daemon with a schedule makes up for the backup that was never made, once,
// and remembers it over a restart; without one it makes none.
func TestScheduledBackup(t *testing.T) {
	b := newBox(t)
	b.must("remember", "worth keeping")
	made := func() []string {
		found, err := filepath.Glob(filepath.Join(b.dir, store.BackupDir, "memd-*", store.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	last := func() string {
		var st store.Stats
		if err := json.Unmarshal([]byte(b.must("stats", "--json")), &st); err != nil {
			t.Fatal(err)
		}
		return st.LastBackupAt
	}
	d := b.serve()
	d.stop()
	if got := made(); len(got) != 0 || !strings.Contains(b.must("stats"), "last backup        never") {
		t.Errorf("without a schedule there is %q; %s", got, b.must("stats"))
	}
	b.env = append(b.env, "MEMD_BACKUP_SCHEDULE=@yearly")
	d = b.serve()
	eventually(t, "the first backup", func() bool { return last() != "" })
	d.stop()
	when := last()
	if got := made(); len(got) != 1 || !strings.Contains(d.log.String(), `"job":"backup"`) {
		t.Fatalf("there is %q; logged %s", got, d.log.String())
	}
	d = b.serve()
	d.stop()
	if got := made(); len(got) != 1 || last() != when {
		t.Errorf("after a restart there is %q, last made at %s, before at %s", got, last(), when)
	}
}

// A schedule that cannot be is refused by file, line and key.
func TestScheduleRefused(t *testing.T) {
	b := newBox(t)
	file := filepath.Join(filepath.Dir(b.dir), "memd.yaml")
	if err := os.WriteFile(file, []byte("backup:\n  schedule: TZ=UTC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.run("serve", "--config", file)
	if r.code != memd.ExitUsage || !strings.Contains(r.err, file+":2: backup.schedule: ") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

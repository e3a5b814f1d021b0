package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// backedUpTo runs memd backup and returns what it made.
func (b *box) backedUpTo(args ...string) store.Backup {
	b.t.Helper()
	var made store.Backup
	out := b.must(append([]string{"backup", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return made
}

// With and without a daemon: what was remembered comes back, what was
// forgotten does not, and what was in place is kept.
func TestBackupAndRestore(t *testing.T) {
	b := newBox(t)
	b.must("remember", "the first memory")
	secret := b.field("id", "remember", "the secret zanzibarfluke")
	alone := b.backedUpTo("--to", "copies") // relative to where the command runs
	if filepath.Dir(alone.Path) != filepath.Join(filepath.Dir(b.dir), "copies") {
		t.Errorf("the backup is in %s", alone.Path)
	}
	d := b.serve()
	beside := b.backedUpTo()
	if filepath.Dir(beside.Path) != filepath.Join(b.dir, "backups") || beside.Manifest.Files[0].Rows.Short != 2 ||
		beside.Manifest.Version != alone.Manifest.Version {
		t.Errorf("the daemon's backup: %+v", beside)
	}
	if out := b.must("backup"); !strings.Contains(out, "2 short") {
		t.Errorf("for people: %s", out)
	}
	b.must("remember", "written since")
	b.must("forget", secret, "--yes")

	pid := fmt.Sprint(d.cmd.Process.Pid)
	for _, args := range [][]string{{"restore", alone.Path, "--yes"}, {"doctor", "--repair"}} {
		if r := b.run(args...); r.code != memd.ExitBusy || !strings.Contains(r.err, pid) || !strings.Contains(r.err, "to itself") {
			t.Errorf("%q beside a daemon: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	d.stop()
	for args, code := range map[string]int{
		"restore":                       memd.ExitUsage,
		"restore a b --yes":             memd.ExitUsage,
		"restore " + alone.Path:         memd.ExitUsage, // nobody is there to ask
		"restore /no/such/folder --yes": memd.ExitFailed,
		"restore " + b.dir + " --yes":   memd.ExitFailed,
		"backup --to /proc/no/such":     memd.ExitUsage,
		"backup x":                      memd.ExitUsage,
		"doctor --quick --repair":       memd.ExitUsage,
		"backup --to=":                  memd.ExitUsage,
		"restore --json /no/such --yes": memd.ExitFailed,
		"backup --json --to " + b.dir:   memd.ExitUsage,
	} {
		if r := b.run(strings.Split(args, " ")...); r.code != code || r.err == "" {
			t.Errorf("%s: exit code %d, want %d: %s%s", args, r.code, code, r.out, r.err)
		}
	}
	if out := b.must("list"); !strings.Contains(out, "written since") {
		t.Errorf("a refused restore changed the store: %s", out)
	}

	var done store.Restored
	if err := json.Unmarshal([]byte(b.must("restore", "--json", "--yes", alone.Path)), &done); err != nil {
		t.Fatal(err)
	}
	if done.Forgotten != 1 || done.Path != alone.Path {
		t.Errorf("restored %+v", done)
	}
	if out := b.must("list"); !strings.Contains(out, "the first memory") || strings.Contains(out, "written since") || strings.Contains(out, "zanzibar") {
		t.Errorf("after the restore: %s", out)
	}
	if _, err := os.Stat(filepath.Join(done.Replaced, "agent_memory.db")); err != nil {
		t.Error(err)
	}
	if out := b.must("restore", beside.Path, "--yes"); !strings.Contains(out, "replaced-") || !strings.Contains(out, "1 of them") {
		t.Errorf("for people: %s", out)
	}
}

// What is at fault is mended after a backup, told, and sound afterwards.
func TestDoctorRepair(t *testing.T) {
	b := newBox(t)
	b.must("remember", "the first memory")
	if out := b.must("doctor", "--repair"); out != "sound\n" {
		t.Errorf("of a sound store: %s", out)
	}
	db, token := filepath.Join(b.dir, "agent_memory.db"), filepath.Join(b.dir, "token")
	plant := func(sql string) {
		t.Helper()
		if out, err := exec.Command("sqlite3", db, sql).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, path := range []string{token, db} {
			if err := os.WriteFile(path+".x", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path+".x", 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	plant(`UPDATE tally SET rows = 9`)
	if r := b.run("doctor"); r.code != memd.ExitFailed || strings.Count(r.out, "memd doctor --repair") != 6 { // four tiers, two files
		t.Errorf("doctor: exit code %d: %s", r.code, r.out)
	}
	var answer repairs
	if err := json.Unmarshal([]byte(b.must("doctor", "--repair", "--json")), &answer); err != nil {
		t.Fatal(err)
	}
	if !answer.OK || len(answer.Mended) != 2 || answer.Mended[0].Check != "tally" || answer.Mended[1].Check != "mode" || len(answer.Findings) != 0 {
		t.Errorf("repaired %+v", answer)
	}
	if _, err := os.Stat(filepath.Join(answer.Backup, store.ManifestName)); err != nil {
		t.Error(err)
	}
	plant(`UPDATE tally SET rows = 9`)
	if out := b.must("doctor", "--repair"); !strings.Contains(out, "mended tally") || !strings.Contains(out, "backup: ") || !strings.HasSuffix(out, "sound\n") {
		t.Errorf("for people: %s", out)
	}

	// What has no remedy is found still.
	b.must("remember-long-term", "a fact", "--key", "k", "--source", "AGENTS.md#k")
	plant(`DELETE FROM head; INSERT INTO tombstone VALUES ('older', 'default', 'k', '', '')`)
	if r := b.run("doctor", "--repair", "--json"); r.code != memd.ExitFailed || !strings.Contains(r.out, `"check":"headless_key"`) || !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	b.must("forget", "--key", "k", "--yes")
}

// Damaged pages are left alone; the way out is a backup.
func TestRepairOfADamagedDatabase(t *testing.T) {
	b := newBox(t)
	for i := range 20 {
		b.must("remember", fmt.Sprintf("event %d: %s", i, strings.Repeat("words that fill pages ", 100)))
	}
	made := b.backedUpTo()
	db := filepath.Join(b.dir, "agent_memory.db")
	whole, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(whole), "event 7: words") &^ 4095
	for i := at; i < at+100; i++ {
		whole[i] = byte(i*7 + 1)
	}
	if err := os.WriteFile(db, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.run("doctor", "--repair"); r.code != memd.ExitFailed || !strings.Contains(r.out, "memd restore") || strings.Contains(r.out, "mended") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	b.must("restore", made.Path, "--yes")
	b.must("doctor")
}

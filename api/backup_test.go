package api

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

func TestBackup(t *testing.T) {
	d := start(t, nil, nil)
	d.short("worth keeping")
	elsewhere := t.TempDir()
	for body, folder := range map[string]string{
		"":                                  filepath.Join(d.store.Dir(), store.BackupDir),
		"{}":                                filepath.Join(d.store.Dir(), store.BackupDir),
		fmt.Sprintf(`{"to":%q}`, elsewhere): elsewhere,
	} {
		var b store.Backup
		d.post("/v1/backup", body).want(200).into(&b)
		if filepath.Dir(b.Path) != folder || len(b.Manifest.Files) != 1 || b.Manifest.Files[0].Rows.Short != 1 {
			t.Errorf("%s: %+v", body, b)
		}
		if _, err := os.Stat(filepath.Join(b.Path, store.ManifestName)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	if text := string(d.get("/metrics").want(200).Body); !strings.Contains(text, "\nmemd_last_backup_timestamp_seconds ") {
		t.Errorf("the metrics do not say when the last backup was made: %s", text)
	}
	for _, to := range []string{"relative", "../up", d.store.Dir(), filepath.Join(d.store.Dir(), "history")} {
		d.post("/v1/backup", fmt.Sprintf(`{"to":%q}`, to)).refused(400, memd.CodeInvalidRequest, "to")
	}
	d.post("/v1/backup", `{"where":"x"}`).refused(400, memd.CodeInvalidRequest, "where")
}

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"memd"
	"memd/internal/regular"
	"memd/migrations"
)

// ManifestName is the file within a backup that says what the others hold.
const ManifestName = "manifest.json"

// maxManifest bounds a manifest that is read, in bytes.
const maxManifest = 1 << 20

// BackupManifest says what a backup holds.
type BackupManifest struct {
	Version   string       `json:"memd_version"` // of the memd that wrote it
	Schema    int64        `json:"schema_version"`
	CreatedAt memd.Time    `json:"created_at"` // no later than the state it holds
	Files     []BackupFile `json:"files"`      // the active database first

	// Missing names the databases that could not be read and are not in it.
	Missing []string `json:"missing,omitempty"`
}

// BackupFile is one database of a backup.
type BackupFile struct {
	Name   string   `json:"name"` // relative to the folder, as below the data directory
	Size   int64    `json:"size"` // bytes
	SHA256 string   `json:"sha256"`
	Rows   TierRows `json:"rows"`
}

// TierRows are the rows of one database.
type TierRows struct {
	Transient int `json:"transient"`
	Short     int `json:"short"`
	Long      int `json:"long"`
	Archive   int `json:"archive"`
}

// historyForm is the name of a historical database within a backup. It admits
// no way out of the folder.
var historyForm = regexp.MustCompile(`^history/agent_memory-[0-9]{8}T[0-9]{6}Z(-[0-9]{1,6})?\.db$`)

// readManifest reads the manifest of the backup in folder and refuses one that
// names what no memd writes.
func readManifest(folder string) (BackupManifest, error) {
	var m BackupManifest
	path := filepath.Join(folder, ManifestName)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return m, badBackup("%s holds no %s: it is no backup of memd, or not a whole one", folder, ManifestName)
	}
	text, err := regular.ReadFile(path)
	if err != nil {
		return m, fail("read "+path, err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&m); err != nil {
		return m, badBackup("%s cannot be read", path)
	}
	if _, err := strict.Token(); err != io.EOF {
		return m, badBackup("%s has more than one document", path)
	}
	if m.Schema > migrations.Latest {
		return m, badBackup("the backup has schema %d, newer than this memd's %d", m.Schema, migrations.Latest)
	}
	if len(m.Files) == 0 || m.Files[0].Name != ActiveName {
		return m, badBackup("%s does not name %s first", path, ActiveName)
	}
	named := map[string]bool{}
	for i, f := range m.Files {
		if named[f.Name] || i > 0 && !historyForm.MatchString(f.Name) {
			return m, badBackup("%s names %.80q, which is no database of a backup", path, f.Name)
		}
		named[f.Name] = true
	}
	for _, name := range m.Missing {
		if named[name] || !historyForm.MatchString(name) {
			return m, badBackup("%s misses %.80q, which is no database that it could hold", path, name)
		}
	}
	return m, nil
}

// badBackup refuses a backup.
func badBackup(format string, args ...any) *memd.Error {
	return memd.FieldErrorf(memd.CodeStoreFailed, "path", format, args...).
		WithHint("choose another backup; the store was not touched")
}

// fingerprint measures a file: its size and the SHA-256 of its bytes, in hex.
// No connection of this process may have it open.
func fingerprint(path string) (size int64, sum string, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// countRows counts the rows of one database; the tally beside them may be wrong.
func countRows(ctx context.Context, c *conn) (TierRows, error) {
	var n TierRows
	err := c.row(ctx, `SELECT (SELECT count(*) FROM transient), (SELECT count(*) FROM short),
 (SELECT count(*) FROM long), (SELECT count(*) FROM archive)`, nil, &n.Transient, &n.Short, &n.Long, &n.Archive)
	return n, err
}

// rows is how many memories the files hold.
func (m BackupManifest) rows() (n int) {
	for _, f := range m.Files {
		n += f.Rows.Transient + f.Rows.Short + f.Rows.Long + f.Rows.Archive
	}
	return n
}

package store_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/internal/memtest"
	"memd/store"
)

// under opens the store in dir under budgets that edit changes.
func under(t testing.TB, dir string, edit func(*configs.Budgets)) *store.Set {
	t.Helper()
	return memtest.Store(t, dir, nil, edit)
}

func makeRoom(t testing.TB, s *store.Set) store.Room {
	t.Helper()
	room, err := s.MakeRoom(ctx)
	if err != nil {
		t.Fatalf("make room: %v", err)
	}
	return room
}

// textOf is text of about n bytes, no two alike.
func textOf(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "w%dx%d ", seed, i*7919%10007)
	}
	return b.String()
}

// supersede writes version n of a row's key, with the id of number id.
func supersede(t testing.TB, s *store.Set, m memd.Memory, version, id int, summary string) memd.Memory {
	t.Helper()
	next := row(memd.Long, id, summary)
	next.MemoryKey, next.Version = m.MemoryKey, version
	put(t, s, next)
	return next
}

// embed gives a row of the active database a vector.
func embed(t testing.TB, s *store.Set, id string, dim int) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		return tx.Exec(`INSERT INTO embedding (memory_id, model, dim, vec, bits) VALUES (?, 'm', ?, ?, ?)`,
			id, dim, bytes.Repeat([]byte{0x7f}, dim), embedding.Bits(slices.Repeat([]float32{1}, dim)))
	})
}

// vectors counts the vectors of rows of a tier over all databases.
func vectors(t testing.TB, s *store.Set, tier memd.Tier) (n int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir(), store.HistoryDir, "*.db"))
	must(t, err)
	for _, path := range append(paths, filepath.Join(s.Dir(), store.ActiveName)) {
		var here int
		query := fmt.Sprintf(`SELECT count(*) FROM embedding e JOIN %s t ON t.id = e.memory_id`, tier)
		if _, err := fmt.Sscan(shellFile(t, path, query), &here); err != nil {
			t.Fatal(err)
		}
		n += here
	}
	return n
}

// kept counts the rows among those given that can still be read.
func kept(t testing.TB, s *store.Set, rows []memd.Memory) (n int) {
	t.Helper()
	for _, m := range rows {
		if _, ok := get(t, s, m.ID); ok {
			n++
		}
	}
	return n
}

// historyBytes is the size of all files below history/.
func historyBytes(t testing.TB, dir string) (n int64) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, store.HistoryDir))
	must(t, err)
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		n += info.Size()
	}
	return n
}

// An archived row that carries a key is owed: no pressure takes it, and not
// that its key has a later version either.
func TestArchivedKeyIsOwed(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	cold := row(memd.Archive, 1, textOf(1, 20_000))
	cold.MemoryKey, cold.Version = "trap", 1
	put(t, s, cold)
	next := supersede(t, s, cold, 2, 2, "the trap's next version")
	roll(t, s)
	must(t, s.Close())
	s = under(t, dir, func(b *configs.Budgets) { b.StoreBytes = 1 })
	makeRoom(t, s)
	if kept(t, s, []memd.Memory{cold, next}) != 2 {
		t.Error("an owed row went under byte pressure")
	}
}

// shellFile runs SQL in the stock shell on any database.
func shellFile(t testing.TB, path, sql string) string {
	t.Helper()
	out, err := exec.Command(shellPath(t), "-batch", "-bail", "-cmd", ".timeout 5000", path, sql).CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s\n%s", err, out, sql)
	}
	return strings.TrimSpace(string(out))
}

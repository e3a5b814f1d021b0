package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memd"
)

// A pipe in the place of a file is refused by name; no command waits for who would
// write into it.
func TestPipesInPlaceOfFiles(t *testing.T) {
	b := newBox(t)
	cert, key := certificate(t)
	b.must("model", "add", b.words(words), "--name", "tiny")
	b.serve().stop() // makes the files
	config := filepath.Join(filepath.Dir(b.dir), ".config", "memd", "memd.yaml")
	tables, err := filepath.Glob(filepath.Join(b.dir, "models", "tiny*"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, env := range map[string][]string{
		filepath.Join(b.dir, "token"):           nil,
		filepath.Join(b.dir, "tokens"):          nil,
		filepath.Join(b.dir, "guard.key"):       nil,
		filepath.Join(b.dir, "allowed"):         nil,
		filepath.Join(b.dir, "memd.lock"):       nil,
		filepath.Join(b.dir, "agent_memory.db"): nil,
		config:                                  nil,
		tables[0]:                               {"MEMD_EMBEDDING_PROVIDER=static", "MEMD_EMBEDDING_MODEL=tiny"},
		cert:                                    {"MEMD_TLS_CERT=" + cert, "MEMD_TLS_KEY=" + key},
		key:                                     {"MEMD_TLS_CERT=" + cert, "MEMD_TLS_KEY=" + key},
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			plain := b.env
			defer func() { b.env = plain }()
			b.env = append(b.env[:len(b.env):len(b.env)], env...)
			aside := path + ".aside"
			_ = os.Rename(path, aside) // not all are there
			defer func() {
				if err := os.Remove(path); err != nil {
					t.Error(err)
				}
				_ = os.Rename(aside, path)
			}()
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			r := b.run("serve")
			if r.code == memd.ExitDone || !strings.Contains(r.err, path) || !strings.Contains(r.err, "no regular file") {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
		})
	}
	b.must("doctor")
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
)

// A daemon with a root in its configuration looks at the sources of its namespace,
// and so does a command that opens the store itself.
func TestSourcesUnderARoot(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	root := filepath.Join(home, "src")
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(root, "AGENTS.md"), "# Rules\n\n## Commands\n\nmake test\n")
	put(filepath.Join(home, "secret.md"), "# Secret\n")
	if err := os.Symlink("../secret.md", filepath.Join(root, "out.md")); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(home, "memd.yaml"), "roots:\n  project/x: "+root+"\n")
	b.env = append(b.env, "MEMD_CONFIG="+filepath.Join(home, "memd.yaml"))

	d := b.serve()
	c := b.client()
	keep := func(key, namespace, source string) memd.Written {
		t.Helper()
		reply, err := c.RememberLongTerm(context.Background(), memd.RememberLongTerm{
			MemoryKey: key, Summary: "what " + key + " says", Source: source, Namespace: namespace, Kind: memd.Rule,
		})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Value
	}
	for key, w := range map[string]struct {
		namespace, source string
		status            memd.SourceStatus
		warnings          []string
	}{
		"ok":      {"project/x", "AGENTS.md#commands", memd.SourceOK, nil},
		"file":    {"project/x", "docs/gone.md", memd.SourceMissing, []string{"the source is missing: no such file"}},
		"section": {"project/x", "AGENTS.md#deploy", memd.SourceMissing, []string{"the source is missing: no such section"}},
		"out":     {"project/x", "out.md#secret", memd.SourceUnchecked, nil},
		"url":     {"project/x", "http://127.0.0.1:1/x", memd.SourceUnchecked, nil},
		"other":   {"project/y", "AGENTS.md#commands", memd.SourceUnchecked, nil},
	} {
		if got := keep(key, w.namespace, w.source); got.SourceStatus != w.status || !slices.Equal(got.Warnings, w.warnings) || got.Stale {
			t.Errorf("%s: %s, stale %v, with %q", w.source, got.SourceStatus, got.Stale, got.Warnings)
		}
	}
	d.stop()
	if !strings.Contains(b.must("get", "--key", "ok", "--namespace", "project/x"), "AGENTS.md#commands (ok)") {
		t.Error("the row does not show that its source stands")
	}
	put(filepath.Join(root, "AGENTS.md"), "# Rules\n")
	id := b.field("id", "get", "--key", "ok", "--namespace", "project/x")
	if out := b.must("verify", id); !strings.Contains(out, "warning: the source is missing: no such section") {
		t.Errorf("verified without a daemon: %s", out)
	}
	if status := b.field("source_status", "get", id); status != "missing" {
		t.Errorf("the source is %s", status)
	}
}

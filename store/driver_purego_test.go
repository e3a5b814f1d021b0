//go:build !memd_cgo

package store

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"
)

// The pair of sqlite and libc that go.mod resolves is the one this release was
// tested with: sqlite pins its libc, and another dependency may raise it in
// silence.
func TestPinsMatchGoMod(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for path, pin := range map[string]string{"modernc.org/sqlite": sqlitePin, "modernc.org/libc": libcPin} {
		line := regexp.MustCompile(`(?m)^(?:require)?\s*` + regexp.QuoteMeta(path) + ` (v\S+)`).FindSubmatch(mod)
		if line == nil || string(line[1]) != pin {
			t.Errorf("go.mod has %s %s, the store is pinned to %s", path, line, pin)
		}
	}
}

func TestCheckPins(t *testing.T) {
	dep := func(path, version string) *debug.Module { return &debug.Module{Path: path, Version: version} }
	replaced := dep("modernc.org/libc", libcPin)
	replaced.Replace = dep("modernc.org/libc", "v1.0.0")
	for name, c := range map[string]struct {
		deps []*debug.Module
		ok   bool
	}{
		"the pair":       {[]*debug.Module{dep("modernc.org/sqlite", sqlitePin), dep("modernc.org/libc", libcPin)}, true},
		"another libc":   {[]*debug.Module{dep("modernc.org/sqlite", sqlitePin), dep("modernc.org/libc", "v1.80.2")}, false},
		"another sqlite": {[]*debug.Module{dep("modernc.org/sqlite", "v1.61.0"), dep("modernc.org/libc", libcPin)}, false},
		"replaced libc":  {[]*debug.Module{dep("modernc.org/sqlite", sqlitePin), replaced}, false},
		"no such module": {nil, true},
	} {
		if err := checkPins(&debug.BuildInfo{Deps: c.deps}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

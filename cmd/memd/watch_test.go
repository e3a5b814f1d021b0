package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// What a person does in the folder is done in the store, and the other way round.
func TestWatch(t *testing.T) {
	b := newBox(t)
	b.serve()
	b.write("before", "written before it began")
	save(t, filepath.Join(b.folder(), "early.md"), aNote("early", "saved before it began"))
	w := b.watch("--json")
	w.both("before", "written before it began")
	w.both("early", "saved before it began")

	w.edit("style", "short minutes")
	w.both("style", "short minutes")
	w.edit("style", "shorter minutes")
	w.both("style", "shorter minutes")
	b.write("style", "no minutes")
	w.both("style", "no minutes")
	b.write("later", "from the store")
	w.both("later", "from the store")
	b.must("edit", b.field("id", "get", "--key", "later", "--namespace", "user"), "--importance", "9")
	eventually(t, "the importance", func() bool {
		text, err := os.ReadFile(w.path("later"))
		return err == nil && strings.Contains(string(text), "\nimportance: 9\n")
	})
	save(t, w.path("sub/deep"), aNote("deep", "in a folder of its own"))
	eventually(t, "the note below", func() bool { return b.inStore("deep") == "in a folder of its own" })

	b.must("forget", "--key", "later", "--namespace", "user", "--yes")
	eventually(t, "the file of what was forgotten goes", func() bool { _, err := os.Stat(w.path("later")); return os.IsNotExist(err) })
	if err := os.Remove(w.path("early")); err != nil {
		t.Fatal(err)
	}
	w.both("early", "saved before it began") // what is to go is forgotten in the store

	save(t, w.path("broken"), "---\nname: broken\ndescription: d\ntype: bogus\n---\n")
	w.says(`"broken.md","line":4`)
	save(t, w.path("secret"), aNote("secret", "the token is "+aToken))
	w.says(`"secret_detected"`)
	w.looks(rest)
	w.stop()
	if log := w.log.String(); strings.Count(log, "\n") != 1 {
		t.Errorf("stderr is %s", log)
	}
	outcomes := map[notes.Outcome]int{}
	for line := range strings.Lines(w.out.String()) {
		var e folder.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.File == "" {
			t.Errorf("%s: %v", line, err)
		}
		outcomes[e.Outcome]++
		for _, body := range []string{"before it began", "minutes", "from the store", "folder of its own", aToken[4:10], "about "} {
			if strings.Contains(line, body) {
				t.Errorf("a body stands in %s", line)
			}
		}
	}
	if outcomes[notes.Refused] != 2 || outcomes[notes.Conflict] != 0 || outcomes[notes.Created] < 6 || outcomes[notes.Updated] < 4 {
		t.Errorf("told is %v:\n%s", outcomes, w.out.String())
	}
}

// After a change on each side it comes to rest: nothing is compared any more, no byte of
// the folder or the store is written, and no access is counted.
func TestWatchComesToRest(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	w := b.watch()
	from := b.asked("/v1/memories")
	w.edit("a", "from the file")
	stamped := func() bool {
		text, err := os.ReadFile(w.path("a"))
		return err == nil && strings.Contains(string(text), "\nversion: 1\n")
	}
	eventually(t, "memd notes what it has taken", stamped)
	w.looks(rest)
	if n := b.asked("/v1/memories") - from; n > 6 {
		t.Errorf("a change of a file was compared %d times", n)
	}
	from = b.asked("/v1/memories")
	b.write("b", "from the store")
	eventually(t, "the file is written", func() bool { return inFile(w.path("b")) == "from the store" })
	w.looks(rest)
	if n := b.asked("/v1/memories") - from; n > 6 {
		t.Errorf("a change of the store was compared %d times", n)
	}
	bytes := func() map[string]string {
		all := map[string]string{}
		for _, dir := range []string{w.dir, b.dir} {
			names, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				data, err := os.ReadFile(name)
				if info, statErr := os.Stat(name); err == nil && statErr == nil {
					all[name] = info.ModTime().String() + string(data)
				}
			}
		}
		return all
	}
	from, before, log := b.asked("/v1/memories"), bytes(), d.log.String()
	w.looks(rest)
	if b.asked("/v1/memories") != from {
		t.Error("it goes on comparing")
	}
	after := bytes()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			t.Errorf("%s is written while nothing happens", name)
		}
	}
	if d.log.String() != log {
		t.Errorf("the daemon says %s", strings.TrimPrefix(d.log.String(), log))
	}
	w.stop()
}

func TestWatchNeedsADaemon(t *testing.T) {
	b := newBox(t)
	r := b.run("watch", b.folder())
	if r.code != memd.ExitBusy || r.out != "" || !strings.Contains(r.err, "memd serve") {
		t.Errorf("it exits %d: %s%s", r.code, r.out, r.err)
	}
	b.serve()
	for _, args := range [][]string{{filepath.Join(b.folder(), "gone")}, {filepath.Join(b.folder(), "gone", "x")}} {
		if r := b.run(append([]string{"watch"}, args...)...); r.code != memd.ExitNotFound || strings.Count(r.err, "\n") != 2 {
			t.Errorf("%q exits %d: %s", args, r.code, r.err)
		}
	}
	for _, args := range [][]string{{}, {""}, {"a", "b"}, {b.folder(), "--namespace", "Not One"}, {b.folder(), "--every", "1ms"}} {
		if r := b.run(append([]string{"watch"}, args...)...); r.code != memd.ExitUsage {
			t.Errorf("%q exits %d: %s", args, r.code, r.err)
		}
	}
}

// Each of these signals ends it in order; what was saved just before waits for the next
// time.
func TestWatchSignals(t *testing.T) {
	b := newBox(t)
	b.serve()
	for i, end := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(end) { // under nohup, which it heeds
			continue
		}
		w := b.watch()
		body := "saved before " + end.String()
		w.edit("a", body)
		w.signal(end)
		if code := w.wait(); code != 0 {
			t.Errorf("%s: it exits %d: %s", end, code, w.log.String())
		}
		again := b.watch()
		again.both("a", body)
		again.stop()
		if found, err := filepath.Glob(filepath.Join(w.dir, "*")); err != nil || len(found) != 2 {
			t.Errorf("run %d leaves %v, %v", i, found, err)
		}
	}
}

// A daemon that goes away is waited for, and what happened meanwhile caught up with.
func TestWatchOutlivesTheDaemon(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	w := b.watch()
	w.edit("a", "one")
	w.both("a", "one")
	d.kill()
	w.edit("a", "two")
	eventually(t, "it says that the daemon is gone", func() bool { return strings.Contains(w.log.String(), "waiting") })
	w.edit("b", "three")
	b.serve()
	b.write("c", "four")
	for name, body := range map[string]string{"a": "two", "b": "three", "c": "four"} {
		w.both(name, body)
	}
	eventually(t, "it says that the daemon is back", func() bool { return strings.Contains(w.log.String(), "caught up") })
	w.stop()
	if n := strings.Count(w.log.String(), "waiting"); n != 1 {
		t.Errorf("said %d times:\n%s", n, w.log.String())
	}
}

// A folder that is removed ends it, and is not made again.
func TestWatchedFolderGone(t *testing.T) {
	b := newBox(t)
	b.serve()
	w := b.watch()
	w.edit("a", "one")
	w.both("a", "one")
	if err := os.Rename(w.dir, w.dir+"-2"); err != nil {
		t.Fatal(err)
	}
	if code := w.wait(); code != memd.ExitNotFound || !strings.Contains(w.log.String(), w.dir) {
		t.Errorf("it exits %d: %s", code, w.log.String())
	}
	if _, err := os.Stat(w.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there again: %v", err)
	}
	if b.inStore("a") != "one" {
		t.Error("the memory is gone with its file")
	}
}

// Notes that are looked at as the sources of their own memories stay ok through all that
// memd writes into them, and no longer once a person has edited one that nobody took in.
func TestWatchedNotesAsSources(t *testing.T) {
	b := newBox(t)
	config := filepath.Join(filepath.Dir(b.dir), "memd.yaml")
	if err := os.WriteFile(config, []byte("roots:\n  user: "+b.folder()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "MEMD_CONFIG="+config)
	b.serve()
	w := b.watch()
	status := func() string {
		b.must("groom")
		return b.field("source_status", "get", "--key", "a", "--namespace", "user") + b.field("stale_reason", "get", "--key", "a", "--namespace", "user")
	}
	holds := func(line string) {
		t.Helper()
		eventually(t, "the file holds "+line, func() bool {
			text, err := os.ReadFile(w.path("a"))
			return err == nil && strings.Contains(string(text), line)
		})
		w.looks(rest)
		if got := status(); got != "ok" {
			t.Errorf("with %s the source is %s", line, got)
		}
	}
	w.edit("a", "from the person")
	holds("version: 1\n")
	b.write("a", "from the store")
	holds("from the store\n")
	b.must("edit", b.field("id", "get", "--key", "a", "--namespace", "user"), "--importance", "9")
	holds("importance: 9\n")
	w.edit("a", "from the person again")
	holds("version: 3\n")
	w.looks(rest)
	before, err := os.ReadFile(w.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	w.looks(rest)
	if after, err := os.ReadFile(w.path("a")); err != nil || string(after) != string(before) {
		t.Errorf("it does not come to rest: %v", err)
	}
	w.stop()
	w.edit("a", "nobody looks")
	if got := status(); got != "changedsource_changed" {
		t.Errorf("after an edit that nobody took in the source is %s", got)
	}
}

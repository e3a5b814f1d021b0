package store_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// Flags by which the two builds of memd meet over one folder; see .ci/run.
var (
	otherBuild = flag.String("store.other", "", "the test binary of the other build, for TestBuildsShareAFolder")
	shareDir   = flag.String("store.share", "", "internal: carry on the store in this folder")
	shareRound = flag.Int("store.round", 0, "internal: the round of carrying on, from 1")
)

const (
	sharedKey   = "shared.key"      // the memory key that every round writes a version of
	roundIsDone = "round is done\n" // what a round prints last
)

// Either build begins a folder, and both carry it on by turns. Some rounds end
// in a kill, so that one build recovers the other's write-ahead log.
func TestBuildsShareAFolder(t *testing.T) {
	if *otherBuild == "" {
		t.Skip("needs the other build's test binary; .ci/run full gives it as -store.other")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, builds := range map[string][2]string{
		"begun by this build": {self, *otherBuild},
		"begun by the other":  {*otherBuild, self},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for round := 1; round <= 8; round++ {
				out, err := exec.Command(builds[(round-1)%2], "-test.run=^TestShareRound$", "-test.v",
					"-store.share="+dir, fmt.Sprint("-store.round=", round)).CombinedOutput()
				if !strings.Contains(string(out), roundIsDone) || (err == nil) == killed(round) {
					t.Fatalf("round %d: %v\n%s", round, err, out)
				}
			}
			if got := shell(t, dir, indexCheck); got != "ok" {
				t.Errorf("the stock shell finds %s", got)
			}
		})
	}
}

// killed tells which rounds end without closing the store: two of either build.
func killed(round int) bool { return round%4 == 1 || round%4 == 2 }

// TestShareRound is one round: it finds all that the rounds before have
// written, and writes some more.
func TestShareRound(t *testing.T) {
	if *shareDir == "" {
		t.Skip("a part of TestBuildsShareAFolder")
	}
	s, err := open(*shareDir)
	if err != nil {
		t.Fatal(err)
	}
	healthy(t, s)
	for round := 1; round < *shareRound; round++ {
		checkRound(t, s, round)
	}
	long, short, note := roundRows(*shareRound)
	put(t, s, short, note)
	write(t, s, func(tx *store.Tx) error {
		h, ok, err := tx.Head(memd.DefaultNamespace, sharedKey)
		if err != nil || ok != (*shareRound > 1) || ok && h.Version != *shareRound-1 {
			return fmt.Errorf("the head before is %v, %v, %v", h, ok, err)
		}
		if err := tx.Insert(&long); err != nil {
			return err
		}
		return tx.SetHead(memd.DefaultNamespace, sharedKey, store.Head{Version: long.Version, ID: long.ID})
	})
	checkRound(t, s, *shareRound)
	healthy(t, s)
	if !killed(*shareRound) {
		if _, err := s.Settle(ctx, true); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		return
	}
	fmt.Print(roundIsDone)
	if killed(*shareRound) {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Kill(); err != nil {
			t.Fatal(err)
		}
		select {}
	}
}

// roundRows are what a round writes.
func roundRows(round int) (long, short, note memd.Memory) {
	long = row(memd.Long, 100+round, fmt.Sprintf("The café deploys build%d on Mondays", round))
	long.MemoryKey, long.Version = sharedKey, round
	short = row(memd.Short, 200+round, fmt.Sprintf("修复watchdog误杀设备重启 round%d ÄÖ%d\x00end", round, round))
	short.RawContent = strings.Repeat(fmt.Sprintf("raw %d ", round), 500)
	short.Tags = []string{"build", "标签"}
	return long, short, row(memd.Transient, 300+round, fmt.Sprintf("note of round%d", round))
}

// checkRound fails unless the rows of a round are there as they were written,
// and are found by word, by Chinese character and by part.
func checkRound(t *testing.T, s *store.Set, round int) {
	t.Helper()
	long, short, note := roundRows(round)
	for _, want := range []memd.Memory{long, short, note} {
		got, ok := get(t, s, want.ID)
		if !ok || got.Summary != want.Summary || got.RawContent != want.RawContent || got.Version != want.Version ||
			!slices.Equal(got.Tags, want.Tags) || got.CreatedAt != want.CreatedAt || got.ContentHash != want.ContentHash {
			t.Errorf("round %d wrote %v, there is %v (%v)", round, want, got, ok)
		}
	}
	finds(t, s, memd.Short, fmt.Sprintf("round%d", round), short)
	if ids := find(t, s, memd.Short, "杀"); !slices.Contains(ids, short.ID) {
		t.Errorf("the row of round %d is not found by a character", round)
	}
	view(t, s, func(v *store.View) error {
		rows, err := v.List(store.Selection{Scope: scope(), Tiers: []memd.Tier{memd.Short}, Q: fmt.Sprintf("äö%d", round), Limit: 100})
		if err == nil && (len(rows) != 1 || rows[0].ID != short.ID) {
			t.Errorf("a part of the row of round %d finds %d rows", round, len(rows))
		}
		return err
	})
	if h, ok := head(t, s, sharedKey); !ok || h.Version < round {
		t.Errorf("the head is %v (%v) after round %d", h, ok, round)
	}
}

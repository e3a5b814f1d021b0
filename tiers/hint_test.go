package tiers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"memd"
	"memd/guard/fence"
)

// A refusal names the fingerprint of each thing that it found, since none of them
// passes alone; of many the first five, and where the others are.
func TestHintNamesEachFingerprint(t *testing.T) {
	h := newHouse(t, nil)
	print := regexp.MustCompile(`[0-9a-f]{32}`)
	for n, want := range map[int]int{1: 1, 2: 2, 5: 5, 6: 5} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("db.password = hG7!kQ2z_%dLm9", i))
		}
		_, err := h.RememberLongTerm(ctx, ann, longRequest(fmt.Sprint("k", n), strings.Join(lines, "\n")))
		refused(t, err, memd.CodeSecretDetected, "summary")
		hint := ""
		if e, ok := errors.AsType[*memd.Error](err); ok {
			hint = e.Hint
		}
		if got := print.FindAllString(hint, -1); len(got) != want || strings.Contains(hint, "memd log") != (n > want) {
			t.Errorf("of %d findings the hint says %q", n, hint)
		}
	}
}

// The answer to a write that stored nothing has no id and no hash, not empty ones.
func TestNothingStoredHasNoID(t *testing.T) {
	h := newHouse(t, nil)
	id := "0123456789abcdef"
	w, err := h.Remember(ctx, ann, memd.Remember{Summary: fence.Open(id) + "\nremembered\n" + fence.Close(id)})
	h.must(err)
	text, err := json.Marshal(w)
	h.must(err)
	for _, field := range []string{`"id"`, `"content_hash"`} {
		if strings.Contains(string(text), field) {
			t.Errorf("%s stands in %s", field, text)
		}
	}
}

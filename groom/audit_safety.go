package groom

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/store"
)

const (
	// A summary of fewer characters may stand in a record by chance.
	leakFrom = 20
	// Of a longer one these are enough: a record may hold it cut.
	leakChars = 40
	// maxRecords bounds the records that are looked through, in bytes.
	maxRecords = 16 << 20
)

// record is a text that memd keeps beside the rows.
type record struct{ place, text string }

func (e *evidence) readRecords(v *store.View) error {
	size := 0
	return v.EachRecord(func(place, text string) error {
		if size += len(text); utf8.RuneCountInString(text) >= leakFrom && size <= maxRecords {
			e.records = append(e.records, record{place, text})
		}
		return nil
	})
}

// findLeaks looks for the summaries of heads in what memd keeps beside the rows.
func (e *evidence) findLeaks() {
	wanted := starts{}
	for _, h := range e.heads {
		if chars := []rune(strings.TrimSpace(h.Summary)); len(chars) >= leakFrom {
			plain := string(chars[:min(len(chars), leakChars)])
			wanted.add(plain)
			if quoted, err := json.Marshal(plain); err == nil { // within JSON
				wanted.add(string(quoted[1 : len(quoted)-1]))
			}
		}
	}
	for _, r := range e.records {
		if e.ctx.Err() == nil && wanted.in(r.text) {
			e.leaks = append(e.leaks, r.place)
		}
	}
	e.records = nil
}

// starts are texts to look for, all at once, by their first bytes.
type starts map[[leakFrom]byte][]string

// add adds a text of leakFrom bytes and more.
func (s starts) add(text string) {
	at := [leakFrom]byte([]byte(text[:leakFrom]))
	s[at] = append(s[at], text)
}

// in reports whether any of the texts is in text.
func (s starts) in(text string) bool {
	for i := 0; i+leakFrom <= len(text); i++ {
		for _, whole := range s[[leakFrom]byte([]byte(text[i:i+leakFrom]))] {
			if strings.HasPrefix(text[i:], whole) {
				return true
			}
		}
	}
	return false
}

// logsClean decides 7.1.
func logsClean(e *evidence) outcome {
	o := e.judge(1, nil, "the reports of grooms, the details of what was done and the values of meta hold no long row's summary (of 20 characters and more); logs and errors are written by types that hold no body",
		"delete what holds it in the sqlite3 shell, and report the fault to memd's authors")
	if len(e.leaks) > 0 {
		o.wrong = true
		o.how += "; found in " + strings.Join(e.leaks[:min(len(e.leaks), 10)], ", ")
	}
	return o
}

// readSecrets scans the long rows.
func (e *evidence) readSecrets() error {
	scanned := map[string]bool{}
	return e.opts.Store.EachLong(e.ctx, func(m memd.Memory) error {
		if !e.caller.Sees(m.Namespace) || scanned[m.ID] {
			return e.ctx.Err()
		}
		scanned[m.ID] = true
		found := e.opts.Scan(&m)
		if len(found) > 0 {
			e.secrets = append(e.secrets, m.ID)
		}
		slices.Sort(found)
		for _, rule := range slices.Compact(found) {
			e.rules[rule]++
		}
		return e.ctx.Err()
	})
}

// noSecrets decides 7.2.
func noSecrets(e *evidence) outcome {
	how := "the guards find no secret and no personal data in a text, a tag or a name of any long row, older versions included; where none names what a number is, a person is to judge"
	for _, rule := range slices.Sorted(maps.Keys(e.rules)) {
		how += fmt.Sprintf("; %s in %s", rule, counted(e.rules[rule], "row", "rows"))
	}
	return e.judge(len(e.heads)+len(e.stray)+len(e.secrets), e.secrets, how,
		"revoke what is secret, memd forget ID (which takes the older versions with it), then memd remember-long-term without it under the same key")
}

// sensitiveTags mark a row that not everybody should read.
var sensitiveTags = [...]string{"sensitive", "secret", "confidential", "private", "pii", "敏感", "机密"}

// sensitiveTagged decides 7.3.
func sensitiveTagged(e *evidence) outcome {
	var bad []string
	for _, n := range e.marked {
		if len(n.Access) == 0 {
			bad = append(bad, n.ID)
		}
	}
	return e.judge(len(e.marked), bad, "rows tagged "+strings.Join(sensitiveTags[:], ", ")+" have access tags; "+counted(len(e.marked), "row is", "rows are")+" tagged so",
		"memd edit ID --access TAG")
}

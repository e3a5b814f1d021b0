package groom

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memd"
	"memd/store"
)

// inDays words a duration in whole days.
func inDays(d time.Duration) string {
	if d%(24*time.Hour) != 0 {
		return d.String()
	}
	return counted(int(d/(24*time.Hour)), "day", "days")
}

// expiredGone decides 5.1.
func expiredGone(e *evidence) outcome {
	shorts := 0
	for namespace, n := range e.shorts {
		if e.caller.Sees(namespace) {
			shorts += n
		}
	}
	return e.judge(e.passing+shorts, idsOf(e.lapsed),
		"no transient, short or archived row whose time came more than an hour ago still stands", "memd groom --light")
}

// lowValueGone decides 5.2.
func lowValueGone(e *evidence) outcome {
	b := e.opts.Store.Budgets()
	shorts := 0
	for namespace, n := range e.shorts {
		if e.caller.Sees(namespace) {
			shorts += n
		}
	}
	how := fmt.Sprintf("no short row stands that was due at the last full groom, or 8 days ago: older than %s, unless of importance 7 and more or read 3 times and more; or of importance %d and less, never read and older than %s",
		inDays(b.ShortRetention), b.ShortArchiveImportance, inDays(b.ShortArchiveAfter))
	fix := "memd groom"
	if e.lastCapped("archive_short") {
		how += "; the last full groom was capped and goes on next time"
		fix = "memd groom --force"
	}
	return e.judge(shorts, idsOf(e.overdue), how, fix)
}

// lastCapped reports whether a pass of the last full groom left rows for the next.
func (e *evidence) lastCapped(pass string) bool {
	for _, r := range e.reports {
		if r.Light {
			continue
		}
		for _, p := range r.Passes {
			if p.Name == pass {
				return p.Capped
			}
		}
		return false
	}
	return false
}

// aheadLimit is how many results are looked at for a short row ahead of a head.
const aheadLimit = 10

// ruleFirst decides 5.3.
func ruleFirst(e *evidence) outcome {
	looked := 0
	var bad []string
	var failed error
	for _, h := range e.heads {
		if e.shorts[h.Namespace] == 0 || !e.caller.Holds(h.Access) || strings.TrimSpace(h.Summary) == "" {
			continue
		}
		looked++
		limit, touch := aheadLimit, false
		query := []rune(h.Summary)
		answer, err := e.opts.Recall(e.ctx, e.caller, memd.Query{
			Query: string(query[:min(len(query), memd.MaxQueryChars)]), Namespaces: []string{h.Namespace}, Access: h.Access, Limit: &limit, Touch: &touch,
		})
		if err != nil {
			if failed = err; e.ctx.Err() != nil {
				break
			}
			continue
		}
		for _, hit := range answer.Results {
			if hit.ID == h.ID {
				break
			}
			if hit.Tier == memd.Short {
				bad = append(bad, h.ID)
				break
			}
		}
	}
	o := e.judge(looked, bad, fmt.Sprintf("a recall of each long row's own summary puts no short row ahead of it; %s asked for", counted(looked, "row was", "rows were")),
		"memd why SUMMARY --key KEY, which says what outranks it")
	if failed != nil && o.unread == "" {
		o.unread = "a recall failed: " + reasonOf(failed)
	}
	return o
}

// statistics reads the use of the store; why it could not is the outcome's.
func (e *evidence) statistics() (store.Stats, string) {
	st, err := e.opts.Store.Stats(e.ctx)
	if err != nil {
		return st, "the store could not be measured: " + reasonOf(err)
	}
	return st, ""
}

// within decides a box by the use of some budgets.
func (e *evidence) within(budgets []string, fix string) outcome {
	st, unread := e.statistics()
	o := outcome{looked: 1, unread: unread, fix: fix}
	used := map[string]int64{}
	for _, b := range st.Budgets {
		if b.Used != nil {
			used[b.Budget] = *b.Used
		}
	}
	var parts []string
	for _, b := range e.opts.Store.Budgets().Map() { // what meta says may have drifted
		limit, err := strconv.ParseInt(b.Value, 10, 64)
		if !slices.Contains(budgets, b.Key) || err != nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d of %d", b.Key, used[b.Key], limit))
		o.wrong = o.wrong || used[b.Key] > limit
	}
	o.how = "use against budget: " + strings.Join(parts, ", ")
	return o
}

// archiveBounded decides 6.1.
func archiveBounded(e *evidence) outcome {
	return e.within([]string{"archive_rows", "history_files", "store_bytes"}, "memd groom")
}

// vectorsBounded decides 6.3.
func vectorsBounded(e *evidence) outcome {
	o := e.within([]string{"embedding_rows", "embedding_bytes"}, "memd groom")
	if st, unread := e.statistics(); unread == "" && st.Embedder.Vectors == 0 {
		o.looked = 0
	}
	return o
}

const (
	// maxLog is how large a write-ahead log may be, in bytes.
	maxLog = 16 << 20
	// fewFree is how much free space in a file is not worth a word, in bytes.
	fewFree = 256 << 10
)

// vacuumed decides 6.2.
func vacuumed(e *evidence) outcome {
	st, unread := e.statistics()
	o := outcome{looked: 1, unread: unread, fix: "memd groom --light, and memd compact where that does not help"}
	var wrong []string
	for _, f := range st.Databases {
		switch {
		case f.State == "unavailable":
			o.unread = cmp.Or(o.unread, f.File+" cannot be read")
		case f.FreeBytes >= fewFree && f.FreeBytes*4 >= f.UsedBytes+f.FreeBytes:
			wrong = append(wrong, fmt.Sprintf("%s has %d of %d bytes free", f.File, f.FreeBytes, f.UsedBytes+f.FreeBytes))
		case f.WALBytes > maxLog:
			wrong = append(wrong, fmt.Sprintf("the log of %s has %d bytes", f.File, f.WALBytes))
		}
	}
	o.wrong = len(wrong) > 0
	o.how = strings.Join(append([]string{"no database has a quarter of its file free (256 KiB and more), and no write-ahead log is beyond 16 MiB"}, wrong...), "; ")
	return o
}

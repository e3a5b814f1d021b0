package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// small makes the smallest active database that may be configured.
func small(b *configs.Budgets) { b.ActiveBytes = configs.MinActiveBytes }

// logOf reads the log.
func logOf(t *testing.T, s *store.Set, f store.LogFilter) (entries []store.Entry) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 1 << 20
	}
	view(t, s, func(v *store.View) (err error) {
		entries, err = v.Log(f)
		return err
	})
	return entries
}

func audits(t *testing.T, s *store.Set, entries ...store.Entry) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		for _, e := range entries {
			if e.At.IsZero() {
				e.At = s.Now()
			}
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// The log keeps its newest entries, as many as fit a share of the smallest database,
// and its numbers grow over all of them.
func TestLogIsBounded(t *testing.T) {
	s := memtest.Store(t, "", nil, small)
	long := store.Entry{Caller: strings.Repeat("c", 64), Action: "remember_long_term", ID: row(memd.Long, 1, "").ID,
		Namespace: "project/" + strings.Repeat("n", 100), MemoryKey: strings.Repeat("k", memd.MaxKeyLen)}
	used := func() int64 {
		st, err := s.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return st.Databases[0].UsedBytes
	}
	before := used()
	for range 40 {
		audits(t, s, slices.Repeat([]store.Entry{long}, 50)...)
	}
	entries := logOf(t, s, store.LogFilter{})
	most := configs.MinActiveBytes / 16 / 128
	if n := len(entries); n < most || n > most+most/16+1 {
		t.Errorf("%d entries, want %d and at most a few more", n, most)
	}
	if entries[0].Seq != 2000 || entries[len(entries)-1].Seq != 2001-int64(len(entries)) {
		t.Errorf("the entries %d to %d are left of 2000", entries[0].Seq, entries[len(entries)-1].Seq)
	}
	if took := used() - before; took > configs.MinActiveBytes/3 {
		t.Errorf("the longest entries and nothing else take %d of %d bytes", took, configs.MinActiveBytes)
	}
}

// A rollover hands the newest entries on. The sealed file keeps none of them but
// what tells of forgotten memories.
func TestLogOutlivesRollover(t *testing.T) {
	for _, held := range []bool{false, true} {
		t.Run(fmt.Sprint("another program has the database open ", held), func(t *testing.T) {
			s := memtest.Store(t, "", nil, small)
			put(t, s, row(memd.Short, 1, "a row"))
			for n := range 400 {
				audits(t, s, store.Entry{Caller: "ann", Action: "remember", Detail: strconv.Itoa(n)})
			}
			audits(t, s, store.Entry{Caller: "ann", Action: "forget", ID: "gone", Detail: store.ForgotOpen})
			before := logOf(t, s, store.LogFilter{})
			if held {
				leaveOpen(t, s.Dir(), store.ActiveName).ask(`SELECT count(*) FROM meta;`)
			}
			rolled := roll(t, s)
			after := logOf(t, s, store.LogFilter{})
			if after[0].Action != "rollover" || after[0].Seq != before[0].Seq+1 || after[0].Detail != filepath.Base(rolled.File) {
				t.Errorf("after the rollover the newest entry is %+v, before %+v", after[0], before[0])
			}
			most := configs.MinActiveBytes / 16 / 128
			if len(after) < most || len(after) > most+most/16+1 || !slices.Equal(after[1:most], before[:most-1]) {
				t.Errorf("%d of %d entries were handed on", len(after), len(before))
			}
			if got := shellOn(t, filepath.Join(s.Dir(), rolled.File), `SELECT group_concat(action || ' ' || memory_id) FROM audit`); got != "forget gone" {
				t.Errorf("the sealed file keeps %q", got)
			}
		})
	}
}

func TestLogFilters(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	at := s.Now()
	audits(t, s,
		store.Entry{Caller: "ann", Action: "remember", ID: "1", Namespace: "default"},
		store.Entry{Caller: "ben", Action: "remember", ID: "2", Namespace: "user"},
		store.Entry{Caller: "ann", Action: "forget", ID: "1", Namespace: "default", MemoryKey: "k", Detail: "open"},
		store.Entry{Caller: "ann", Action: store.Refused, Code: memd.CodeForbidden, Field: "namespace", Count: 3},
		store.Entry{Caller: "memd", Action: "rollover"})
	for name, c := range map[string]struct {
		f    store.LogFilter
		want string
	}{
		"all":         {store.LogFilter{}, "5 4 3 2 1"},
		"limit":       {store.LogFilter{Limit: 2}, "5 4"},
		"before":      {store.LogFilter{Before: store.LogPlace{At: at, Seq: 4}, Limit: 2}, "3 2"},
		"caller":      {store.LogFilter{Caller: "ann"}, "4 3 1"},
		"action":      {store.LogFilter{Action: "remember"}, "2 1"},
		"id":          {store.LogFilter{ID: "1"}, "3 1"},
		"all three":   {store.LogFilter{ID: "1", Caller: "ann", Action: "forget"}, "3"},
		"a namespace": {store.LogFilter{Namespaces: []string{"user"}}, "2"},
		"none":        {store.LogFilter{Namespaces: []string{}}, ""},
	} {
		var got []string
		for _, e := range logOf(t, s, c.f) {
			got = append(got, fmt.Sprint(e.Seq))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	e := logOf(t, s, store.LogFilter{Action: store.Refused})[0]
	if e.Code != memd.CodeForbidden || e.Field != "namespace" || e.Count != 3 || e.Caller != "ann" || e.At.IsZero() {
		t.Errorf("a refusal reads back as %+v", e)
	}
	if e := logOf(t, s, store.LogFilter{Action: "forget"})[0]; e.MemoryKey != "k" || e.Detail != "open" || e.Namespace != "default" || e.Count != 1 {
		t.Errorf("a forget reads back as %+v", e)
	}
}

// The newest come first by their time, also those that are written later; pages
// that meet such entries skip none and repeat none.
func TestLogIsOrderedByTime(t *testing.T) {
	clock := memtest.NewClock()
	s := memtest.Store(t, "", clock, nil)
	s.Refuse(store.Refusal{Caller: "early", Code: memd.CodeForbidden})
	for n := range 5 {
		clock.Advance(time.Duration(n%2) * time.Second) // some within one millisecond
		audits(t, s, store.Entry{Caller: strconv.Itoa(n), Action: "remember"})
	}
	s.Refuse(store.Refusal{Caller: "late", Code: memd.CodeForbidden})
	clock.Advance(time.Second)
	audits(t, s, store.Entry{Caller: "last", Action: "remember"})
	page := func(before store.LogPlace) (callers []string, at store.LogPlace) {
		for _, e := range logOf(t, s, store.LogFilter{Before: before, Limit: 2}) {
			callers, at = append(callers, e.Caller), store.LogPlace{At: e.At, Seq: e.Seq}
		}
		return callers, at
	}
	first, at := page(store.LogPlace{})
	got := first
	if err := s.Flush(ctx); err != nil { // between two pages
		t.Fatal(err)
	}
	for {
		parsed, ok := store.ParseLogPlace(at.String())
		if !ok || parsed != at {
			t.Fatalf("%s reads back as %v, %v", at, parsed, ok)
		}
		next, end := page(at)
		if len(next) == 0 {
			break
		}
		got, at = append(got, next...), end
	}
	// What was written after the first page and belongs before its end is new to it.
	if want := "last 4 3 2 1 early 0"; strings.Join(got, " ") != want {
		t.Errorf("the pages show %q, want %q", got, want)
	}
	whole := []string{}
	for _, e := range logOf(t, s, store.LogFilter{}) {
		whole = append(whole, e.Caller)
	}
	if want := "last late 4 3 2 1 early 0"; strings.Join(whole, " ") != want {
		t.Errorf("the log shows %q, want %q", whole, want)
	}
	for _, bad := range []string{"", "1", "x-1", "1-", "1-0", "01-2", "1--2", "1-2-3"} {
		if _, ok := store.ParseLogPlace(bad); ok {
			t.Errorf("%q is a place", bad)
		}
	}
}

// Equal refusals are one entry a minute with their count; what waits is written
// when the store closes.
func TestRefusals(t *testing.T) {
	clock, dir := memtest.NewClock(), t.TempDir()
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(n int, r store.Refusal) {
		for range n {
			s.Refuse(r)
		}
	}
	flush := func() string {
		t.Helper()
		if err := s.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		return refusedIn(t, dir)
	}
	r := store.Refusal{Caller: "ann", Call: "POST /v1/remember", Code: memd.CodeForbidden, Field: "namespace"}
	other := r
	other.Field = "access"
	refuse(3, r)
	want := "ann POST /v1/remember forbidden namespace 3"
	if got := flush(); got != want {
		t.Errorf("first: %q", got)
	}
	refuse(5, r)
	clock.Advance(30 * time.Second)
	refuse(1, r)
	if got := flush(); got != want {
		t.Errorf("within the minute: %q", got)
	}
	refuse(1, other)
	want += "\nann POST /v1/remember forbidden access 1"
	if got := flush(); got != want {
		t.Errorf("another field: %q", got)
	}
	clock.Advance(31 * time.Second)
	want += "\nann POST /v1/remember forbidden namespace 6"
	if got := flush(); got != want {
		t.Errorf("after the minute: %q", got)
	}
	refuse(2, r)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want += "\nann POST /v1/remember forbidden namespace 2"
	if got := refusedIn(t, dir); got != want {
		t.Errorf("after the end: %q", got)
	}
}

func refusedIn(t *testing.T, dir string) string {
	t.Helper()
	return shell(t, dir, `SELECT caller || ' ' || coalesce(detail, '') || ' ' || code || ' ' || coalesce(field, '') || ' ' || count
 FROM audit WHERE action = 'refuse' ORDER BY seq`)
}

// What a guard refused is told by its finding, and counts among the refusals.
func TestBlocked(t *testing.T) {
	s := memtest.Store(t, "", nil, small)
	for range 3 {
		s.Refuse(store.Refusal{Caller: "ann", Code: memd.CodeSecretDetected, Field: "summary", Finding: "github-pat 00ff"})
	}
	s.Refuse(store.Refusal{Caller: "ann", Call: "POST /v1/remember", Code: memd.CodeSecretDetected, Field: "summary"})
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range logOf(t, s, store.LogFilter{Limit: 10}) {
		got[e.Action] = fmt.Sprint(e.Caller, " ", e.Detail, " ", e.Code, " ", e.Field, " ", e.Count)
	}
	want := map[string]string{store.Blocked: "ann github-pat 00ff secret_detected summary 3", store.Refused: "ann POST /v1/remember secret_detected summary 1"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the log says %v, want %v", got, want)
	}
}

// Whoever is refused over and over, and each time in another way, takes no more
// than a quarter of the log, and no more memory than for some hundred refusals.
func TestRefusalsAreBounded(t *testing.T) {
	clock := memtest.NewClock()
	s := memtest.Store(t, "", clock, small)
	audits(t, s, slices.Repeat([]store.Entry{{Caller: "ann", Action: "remember"}}, 180)...)
	for n := range 2000 {
		s.Refuse(store.Refusal{Caller: fmt.Sprint("bot", n), Code: memd.CodeForbidden})
	}
	for range 20 {
		if err := s.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		clock.Advance(2 * time.Minute)
		s.Refuse(store.Refusal{Caller: "bot1", Code: memd.CodeForbidden})
	}
	audits(t, s, slices.Repeat([]store.Entry{{Caller: "ann", Action: "remember"}}, 65)...) // looks at the bounds
	count := func(f store.LogFilter) (n int) {
		for range logOf(t, s, f) {
			n++
		}
		return n
	}
	most := configs.MinActiveBytes / 16 / 128
	if n := count(store.LogFilter{Action: store.Refused}); n > most/4+most/16+1 || n < most/8 {
		t.Errorf("%d refusals stand in a log of %d", n, most)
	}
	if n := count(store.LogFilter{Action: "remember"}); n < 180 {
		t.Errorf("%d of 245 writes are left in the log", n)
	}
	flood := logOf(t, s, store.LogFilter{Action: store.Refused})
	if !slices.ContainsFunc(flood, func(e store.Entry) bool { return e.Caller == "" && e.Count > 1000 }) {
		t.Error("what was beyond the bound is counted nowhere")
	}
}

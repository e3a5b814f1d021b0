package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
)

var ctx = context.Background()

// file is a file of some records as it is written.
func file(t testing.TB, records ...memd.Record) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Memd: "test", Schema: 6})
	for i := range records {
		if err == nil {
			err = w.Write(&records[i])
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func memory(summary string) memd.Record {
	return memd.Record{Type: memd.MemoryRecord, Tier: memd.Short, Summary: summary}
}

// read is what a Reader finds: the good lines, the others as "number: why", the faults
// and how it ended.
func read(in string) (good, bad, faults []string, err error) {
	r := NewReader(strings.NewReader(in))
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return good, bad, r.Faults(), nil
		case err != nil:
			return good, bad, r.Faults(), err
		case line.Wrong != nil:
			bad = append(bad, fmt.Sprintf("%d: %s", line.Number, line.Wrong.Message))
		default:
			good = append(good, string(line.Text))
		}
	}
}

// What is written is read, whatever the text.
func TestWrittenIsRead(t *testing.T) {
	var records []memd.Record
	for _, text := range []string{"plain", "two\nlines\r\n", "<b>&\u2028\u2029", "设备 🚀", `"quoted" \ `, "\u0001", "nul \x00 in it", "---", ""} {
		records = append(records, memory(text))
	}
	good, bad, faults, err := read(file(t, records...))
	if err != nil || len(bad)+len(faults) > 0 || len(good) != len(records) {
		t.Fatalf("%d lines, %v, %v, %v", len(good), bad, faults, err)
	}
	for i, line := range good {
		var rec memd.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil || rec.Summary != records[i].Summary {
			t.Errorf("%q is read as %q, %v", records[i].Summary, rec.Summary, err)
		}
	}
}

// Lines of every other kind are told by number, and the next are read.
func TestReader(t *testing.T) {
	whole := file(t, memory("one"), memory("two"), memory("three"))
	lines := strings.SplitAfter(whole, "\n")
	edited := func(edit func(lines []string)) string {
		some := slices.Clone(lines)
		edit(some)
		return strings.Join(some, "")
	}
	long := `{"type":"memory","summary":"` + strings.Repeat("x", MaxLine) + `"}`
	for name, c := range map[string]struct {
		in          string
		good        int
		bad, faults []string // parts of them
	}{
		"whole":                    {whole, 3, nil, nil},
		"empty":                    {"", 0, nil, []string{"it is empty"}},
		"blank":                    {"\n", 0, nil, nil},
		"no last line feed":        {strings.TrimSuffix(whole, "\n"), 3, nil, nil},
		"crlf":                     {strings.ReplaceAll(whole, "\n", "\r\n"), 3, nil, nil},
		"bom":                      {"\ufeff" + whole, 3, nil, nil},
		"blank lines":              {strings.ReplaceAll(whole, "\n", "\n\n \t\n"), 3, nil, nil},
		"no header":                {lines[1] + lines[2], 2, nil, nil},
		"no header, but a trailer": {strings.Join(lines[1:], ""), 4, nil, nil}, // the store refuses its type
		"two files":                {whole + whole, 6, nil, nil},
		"cut in a line":            {whole[:len(whole)-len(lines[4])-10], 2, []string{"4: the line is no JSON object"}, []string{"cut short"}},
		"cut after a line":         {strings.Join(lines[:3], ""), 2, nil, []string{"cut short"}},
		"cut, another file":        {strings.Join(lines[:3], "") + whole, 5, nil, []string{"cut short"}},
		"a line gone":              {edited(func(l []string) { l[2] = "" }), 2, nil, []string{"1 of its 3 lines are missing"}},
		"a line more":              {edited(func(l []string) { l[2] += l[2] }), 4, nil, []string{"1 lines more"}},
		"a line changed":           {edited(func(l []string) { l[2] = strings.Replace(l[2], "two", "2", 1) }), 3, nil, []string{"were changed"}},
		"bad utf-8":                {edited(func(l []string) { l[2] = strings.Replace(l[2], "two", "t\xffo", 1) }), 2, []string{"3: the line is not valid UTF-8"}, []string{"were changed"}},
		"nul":                      {edited(func(l []string) { l[2] = strings.Replace(l[2], "two", "t\x00o", 1) }), 2, []string{"3: the line holds a NUL"}, []string{"were changed"}},
		"a list":                   {"[1]\n" + lines[1], 1, []string{"1: the line is no JSON object"}, nil},
		"a word":                   {"null\n" + lines[1], 1, []string{"1: the line is no JSON object"}, nil},
		"two objects":              {"{}{}\n" + lines[1], 1, []string{"1: the line is no JSON object: see byte 3"}, nil},
		"too long":                 {long + "\n" + lines[1], 1, []string{"1: the line has more than 1048576 bytes"}, nil},
		"too long, the last":       {lines[1] + long, 1, []string{"2: the line has more than"}, nil},
		"binary":                   {"SQLite format 3\x00\x10\x00\x01\x01\x00@  \n" + lines[1], 1, []string{"1: the line holds a NUL"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			good, bad, faults, err := read(c.in)
			if err != nil || len(good) != c.good {
				t.Errorf("%d good lines, %v; want %d", len(good), err, c.good)
			}
			for _, have := range []struct{ got, want []string }{{bad, c.bad}, {faults, c.faults}} {
				if len(have.got) != len(have.want) {
					t.Errorf("told %q, want %q", have.got, have.want)
					continue
				}
				for i := range have.got {
					if !strings.Contains(have.got[i], have.want[i]) {
						t.Errorf("told %q, want %q", have.got[i], have.want[i])
					}
				}
			}
		})
	}
}

// A form that nobody here knows is not guessed at.
func TestForeignHeader(t *testing.T) {
	body := "\n" + `{"type":"memory","summary":"x"}` + "\n"
	for _, header := range []string{
		`{"type":"header","format":"memd-jsonl","format_version":2}`, `{"type":"header","format":"other","format_version":1}`,
		`{"type":"header"}`, `{"type":"header","format":"memd-jsonl"}`, `{"type":"header","format":"memd-jsonl","format_version":"1"}`,
		`{"type":"header","format":7}`,
	} {
		good, _, _, err := read(header + body)
		if memd.CodeOf(err) != memd.CodeInvalidRequest || len(good) > 0 {
			t.Errorf("%s: %d lines, %v", header, len(good), err)
		}
	}
}

// Whatever the bytes, the reader ends, its lines stand in order, and what it calls good is
// a JSON object within the bound.
func FuzzReader(f *testing.F) {
	whole := file(f, memory("one"), memory("two"))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:40]))
	f.Add([]byte("\ufeff" + strings.ReplaceAll(whole, "\n", "\r\n")))
	f.Add([]byte("{\"type\":\"trailer\"}\n{}\n\x00\n[]\n\"x\"\r\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in))
		last := 0
		for {
			line, err := r.Next()
			if err != nil {
				if err != io.EOF && memd.CodeOf(err) != memd.CodeInvalidRequest {
					t.Fatal(err)
				}
				return
			}
			if line.Number <= last || line.Bytes > len(in) || len(line.Text) > MaxLine {
				t.Fatalf("line %d after %d, %d bytes", line.Number, last, line.Bytes)
			}
			last = line.Number
			var object map[string]json.RawMessage
			if line.Wrong == nil && (!utf8.Valid(line.Text) || json.Unmarshal(line.Text, &object) != nil) {
				t.Fatalf("%q is called good", line.Text)
			}
			if line.Wrong != nil && strings.Contains(line.Wrong.Message, string(line.Text)) && len(line.Text) > 8 {
				t.Fatalf("a line is repeated: %s", line.Wrong.Message)
			}
		}
	})
}

// shelf is a Store in memory that refuses what it is told to.
type shelf struct {
	calls, most int
	held        []string
	whole       func(records []json.RawMessage) error // of a whole call
	dry         int
}

func (s *shelf) Import(_ context.Context, records []json.RawMessage, dry bool) ([]memd.Imported, error) {
	s.calls++
	s.most = max(s.most, len(records))
	if s.whole != nil {
		if err := s.whole(records); err != nil {
			return nil, err
		}
	}
	out := make([]memd.Imported, len(records))
	for i, raw := range records {
		var rec memd.Record
		if err := json.Unmarshal(raw, &rec); err != nil || rec.Summary == "bad" {
			out[i] = memd.Imported{Outcome: memd.Refused, Code: memd.CodeInvalidRequest, Reason: "it is bad"}
			continue
		}
		out[i] = memd.Imported{Outcome: memd.Created}
		if slices.Contains(s.held, rec.Summary) {
			out[i].Outcome = memd.Unchanged
		} else if !dry {
			s.held = append(s.held, rec.Summary)
		}
	}
	if dry {
		s.dry++
	}
	return out, nil
}

// Every line gets its own answer, what did not get in is parked with its number and
// reason, and its text goes to the rejects alone.
func TestImport(t *testing.T) {
	in := file(t, memory("one"), memory("bad"), memory("two")) + "{no json\n"
	var rejects bytes.Buffer
	s := &shelf{}
	for round := range 3 {
		rejects.Reset()
		report, err := Import(ctx, s, strings.NewReader(in), Options{Rejects: &rejects})
		if err != nil {
			t.Fatal(err)
		}
		want := map[memd.Outcome]int{memd.Created: 2, memd.Refused: 2}
		if round > 0 {
			want = map[memd.Outcome]int{memd.Unchanged: 2, memd.Refused: 2}
		}
		for _, o := range memd.Outcomes() {
			if report.Outcomes[o] != want[o] {
				t.Errorf("round %d: %d %s, want %d", round, report.Outcomes[o], o, want[o])
			}
		}
		if report.Lines != 4 || !report.Failed() || len(report.Parked) != 2 || report.Parked[0].Line != 3 || report.Parked[1].Line != 6 {
			t.Errorf("round %d: %+v", round, report)
		}
		if got := strings.Split(rejects.String(), "\n"); len(got) != 3 || !strings.Contains(rejects.String(), `"bad"`) || !strings.Contains(rejects.String(), "{no json\n") {
			t.Errorf("rejects %q", got)
		}
		if text, _ := json.Marshal(report); bytes.Contains(text, []byte("no json")) || bytes.Contains(text, []byte(`"bad"`)) {
			t.Errorf("the report repeats a line: %s", text)
		}
	}
	// Mended, they get in.
	mended := strings.NewReplacer("bad", "good", "{no json", `{"type":"memory","summary":"three"}`).Replace(rejects.String())
	if report, err := Import(ctx, s, strings.NewReader(mended), Options{}); err != nil || report.Failed() || report.Outcomes[memd.Created] != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A call that is refused whole is the fault of one of its records.
func TestSenderHalves(t *testing.T) {
	var records []memd.Record
	for i := range 300 {
		records = append(records, memory(fmt.Sprint("row ", i)))
	}
	records[77] = memory("poison")
	s := &shelf{whole: func(records []json.RawMessage) error {
		if slices.ContainsFunc(records, func(r json.RawMessage) bool { return bytes.Contains(r, []byte("poison")) }) {
			return memd.Errorf(memd.CodeInvalidRequest, "the body has a field twice")
		}
		return nil
	}}
	report, err := Import(ctx, s, strings.NewReader(file(t, records...)), Options{})
	if err != nil || len(report.Parked) != 1 || report.Parked[0].Line != 79 || report.Outcomes[memd.Created] != 299 {
		t.Errorf("%+v, %v", report, err)
	}
	if s.most > callRecords {
		t.Errorf("a call of %d", s.most)
	}
	// What is no fault of the records ends the import.
	s.whole = func([]json.RawMessage) error { return memd.Errorf(memd.CodeStoreBusy, "the write queue is full") }
	if _, err := Import(ctx, s, strings.NewReader(file(t, records...)), Options{}); memd.CodeOf(err) != memd.CodeStoreBusy {
		t.Errorf("%v", err)
	}
	if _, err := Import(ctx, s, iotestErr{}, Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A call holds no more than a body may.
func TestSenderBytes(t *testing.T) {
	var got int
	s := &shelf{whole: func(records []json.RawMessage) error {
		n := 0
		for _, r := range records {
			n += len(r)
		}
		got = max(got, n)
		return nil
	}}
	send := NewSender(s, false, func(int, []byte, memd.Imported) error { return nil })
	for i := range 60 {
		if err := send.AddRecord(ctx, i, memory(strings.Repeat(fmt.Sprint(i%10), 60<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if err := send.Flush(ctx); err != nil || got > callBytes || got < callBytes/2 {
		t.Errorf("a call of %d bytes, %v", got, err)
	}
}

// What will not fit is said before anything is written; what stands needs no room.
func TestFit(t *testing.T) {
	var records []memd.Record
	for i := range 10 {
		records = append(records, memory(fmt.Sprint("row ", i)))
	}
	records = append(records, memd.Record{Type: memd.MemoryRecord, ID: "x", Tier: memd.Long, Summary: "an older version"})
	in := strings.NewReader(file(t, records...))
	s := &shelf{}
	if err := Fit(ctx, s, in, memd.Room{memd.Short: 10, memd.Long: 0}); err != nil || s.calls != 0 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
	err := Fit(ctx, s, in, memd.Room{memd.Short: 9})
	if memd.CodeOf(err) != memd.CodeBudgetExceeded || len(s.held) > 0 || s.dry == 0 || !strings.Contains(err.Error(), "10 short rows") {
		t.Errorf("%v, %d held, %d dry", err, len(s.held), s.dry)
	}
	in.Reset(file(t, records...))
	if _, err := Import(ctx, s, in, Options{}); err != nil || len(s.held) != 11 {
		t.Fatalf("%d held, %v", len(s.held), err)
	}
	in.Reset(file(t, records...))
	if err := Fit(ctx, s, in, memd.Room{memd.Short: -1}); err != nil {
		t.Errorf("what stands does not fit: %v", err)
	}
	if n, err := in.Seek(0, io.SeekCurrent); n != 0 || err != nil {
		t.Errorf("left at %d, %v", n, err)
	}
}

// A follower knows a whole file from one that was cut short, however the bytes come.
func TestFollower(t *testing.T) {
	whole := file(t, memory("one"), memory(strings.Repeat("long ", 40000)), memory("three"))
	for _, step := range []int{1, 7, 1000, len(whole)} {
		for cut := range 3 {
			in := whole[:len(whole)-cut*60]
			var out bytes.Buffer
			f := NewFollower(&out, func(int, int) {})
			for rest := in; rest != ""; {
				n := min(step, len(rest))
				if _, err := f.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if f.Whole() != (cut == 0) || out.String() != in || f.Bytes() != int64(len(in)) || f.Header().Memd != "test" {
				t.Errorf("in steps of %d, cut %d: whole %t, %d bytes, %+v", step, cut, f.Whole(), f.Bytes(), f.Header())
			}
			if cut == 0 && f.Lines() != 3 {
				t.Errorf("%d lines", f.Lines())
			}
		}
	}
}

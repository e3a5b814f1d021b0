package graph_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/importers/graph"
	"memd/exchange/notes"
)

func origin(t testing.TB) importers.Origin {
	t.Helper()
	date, err := memd.ParseTime("2026-03-01T10:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return importers.Origin{File: "memory.json", Source: "./memory.json", Date: date}
}

// read returns what a file holds, and its faults as they are shown.
func read(t testing.TB, text string) (found []memd.RememberLongTerm, faults []string) {
	t.Helper()
	for item, err := range graph.Read(strings.NewReader(text), origin(t)) {
		if fault, ok := errors.AsType[*notes.Fault](err); ok {
			faults = append(faults, fault.Error())
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = append(found, *item.Long)
		}
	}
	return found, faults
}

func TestEntitiesAndRelations(t *testing.T) {
	found, faults := read(t, "\ufeff"+`{"type":"entity","name":"Ada Park","entityType":"person","observations":["leads the port project","prefers short mails"]}
{"type":"entity","name":"port","entityType":"project","observations":[]}`+"\r\n\n"+`{"type":"relation","from":"Ada Park","to":"port","relationType":"leads"}
{"type":"relation","from":"port","to":"Ada Park","relationType":"is_led_by"}
{"type":"relation","from":"port","to":"port","relationType":"replaces"}
`)
	if len(faults) > 0 || len(found) != 2 {
		t.Fatalf("%d, %v", len(found), faults)
	}
	ada, port := found[0], found[1]
	if want := "Ada Park (person): leads the port project; prefers short mails; Ada Park leads port; port is_led_by Ada Park"; ada.Summary != want {
		t.Errorf("summary is %q", ada.Summary)
	}
	if want := "Ada Park (person)\n\n- leads the port project\n- prefers short mails\n- Ada Park leads port\n- port is_led_by Ada Park"; ada.RawContent != want {
		t.Errorf("raw_content is %q", ada.RawContent)
	}
	if !strings.HasPrefix(ada.MemoryKey, "entity/ada-park-") || ada.Source != "./memory.json#Ada%20Park" || ada.Kind != memd.Fact || ada.Namespace != "default" || ada.VerifiedAt.String() != "2026-03-01T10:00:00.000Z" {
		t.Errorf("%+v", ada)
	}
	if want := "port (project): Ada Park leads port; port is_led_by Ada Park; port replaces port"; port.Summary != want || port.MemoryKey != "entity/port" {
		t.Errorf("%q under %q", port.Summary, port.MemoryKey)
	}
}

// A line that cannot be read is reported, and the others go on.
func TestFaultsNameTheirLines(t *testing.T) {
	found, faults := read(t, strings.Join([]string{
		`{"type":"entity","name":"a","entityType":"t","observations":["x"]}`,
		`{"type":"entity","name":"b"`,
		`{"type":"entity","name":" \u200b","entityType":"t","observations":[]}`,
		`{"type":"thing","name":"c"}`,
		`{"type":"relation","from":"a","relationType":"r"}`,
		`{"type":"entity","name":"d","entityType":"t","observations":[{"deep":1}]}`,
		`{"type":"relation","from":"nobody","to":"none","relationType":"r"}`,
		`[]`, `null`, "\xff\xfe{", strings.Repeat("[", 20_000), strings.Repeat("x", importers.MaxEntry+1),
		`{"type":"entity","name":"e","entityType":"t","observations":["y"]}`,
	}, "\n"))
	if len(found) != 2 || found[1].MemoryKey != "entity/e" {
		t.Fatalf("found %d", len(found))
	}
	if len(faults) != 11 {
		t.Fatalf("faults are %q", faults)
	}
	for i, f := range faults {
		if !strings.HasPrefix(f, fmt.Sprintf("memory.json:%d: ", i+2)) {
			t.Errorf("fault %d is %s", i, f)
		}
	}
}

// An entity with more observations than a memory holds goes on in further ones, and
// nothing is lost.
func TestManyObservations(t *testing.T) {
	var b strings.Builder
	const n = 100_000
	b.WriteString(`{"type":"entity","name":"log","entityType":"t","observations":["` + strings.Repeat("字", 40_000) + `"`)
	for i := range n {
		fmt.Fprintf(&b, `,"observation %06d"`, i)
	}
	b.WriteString("]}\n")
	found, faults := read(t, b.String())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var all strings.Builder
	keys := map[string]bool{}
	for _, m := range found {
		if len(m.RawContent) > importers.MaxRaw || utf8.RuneCountInString(m.Summary) > importers.MaxSummary || keys[m.MemoryKey] || !memd.ValidKey(m.MemoryKey) {
			t.Fatalf("%d bytes under %q", len(m.RawContent), m.MemoryKey)
		}
		keys[m.MemoryKey] = true
		all.WriteString(m.RawContent + "\n")
	}
	for i := range n {
		if want := fmt.Sprintf("- observation %06d\n", i); i%997 == 0 && !strings.Contains(all.String(), want) {
			t.Fatalf("%q is lost", want)
		}
	}
	if strings.Count(all.String(), "- observation") != n {
		t.Errorf("%d observations in %d memories", strings.Count(all.String(), "- observation"), len(found))
	}
}

// A second reading of the same Items gives the same.
func TestReadAgain(t *testing.T) {
	items := graph.Read(strings.NewReader(`{"type":"entity","name":"a","entityType":"t","observations":["x"]}`), origin(t))
	for range 2 {
		n := 0
		for range items {
			n++
		}
		if n != 1 {
			t.Fatalf("read %d", n)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"entity","name":"a b","entityType":"t","observations":["x","","\u0000"]}` + "\n" + `{"type":"relation","from":"a b","to":"c","relationType":"r"}`))
	f.Add([]byte("\xef\xbb\xbf{\r\n{}\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := origin(t)
		for item, err := range graph.Read(bytes.NewReader(data), o) {
			if fault, ok := errors.AsType[*notes.Fault](err); ok {
				if fault.Line < 0 || fault.Line > bytes.Count(data, []byte("\n"))+1 {
					t.Fatalf("line %d", fault.Line)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			m := item.Long
			if !memd.ValidKey(m.MemoryKey) || m.Summary == "" || len(m.RawContent) > importers.MaxRaw || utf8.RuneCountInString(m.Summary) > importers.MaxSummary ||
				utf8.RuneCountInString(m.Source) > memd.MaxSourceChars || strings.ContainsAny(m.Source, " \n") {
				t.Fatalf("%+v", m)
			}
		}
	})
}

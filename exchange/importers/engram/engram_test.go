package engram_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/importers/engram"
	"memd/exchange/notes"
)

const export = `{
  "version": "0.1.0",
  "exported_at": "2026-03-02T08:00:00Z",
  "sessions": [
    {"id": "s1", "project": "Port Tool", "directory": "/src/port", "started_at": "2026-03-01 09:00:00", "ended_at": "2026-03-01 10:00:00", "summary": "moved the port to the new dock"},
    {"id": "s2", "project": "other", "directory": "/gone", "started_at": "2026-03-01 09:00:00"}
  ],
  "observations": [
    {"id": 1, "sync_id": "obs-1", "session_id": "s1", "type": "decision", "title": "Ship by rail", "content": "Rail it is.\n\nRoads flood.", "project": "Port Tool",
     "scope": "project", "topic_key": "architecture/transport", "revision_count": 2, "created_at": "2026-03-01 09:10:00", "updated_at": "2026-03-01 09:20:00"},
    {"id": 2, "session_id": "s2", "type": "bugfix", "title": "Crane counts twice", "content": "Reset the counter first.", "scope": "project", "project": "other", "created_at": "2026-03-01 09:30:00", "updated_at": "2026-03-01 09:30:00"},
    {"id": 3, "session_id": "s2", "type": "preference", "title": "Tea", "content": "green", "scope": "personal", "created_at": "2026-03-01 09:31:00", "updated_at": "2026-03-01 09:31:00"},
    {"id": 4, "session_id": "s1", "type": "tool_use", "title": "ran tests", "content": "all pass", "tool_name": "bash", "scope": "project", "created_at": "2026-03-01 09:32:00", "updated_at": "2026-03-01 09:32:00"},
    {"id": 5, "session_id": "s1", "type": "manual", "title": "gone", "content": "gone", "scope": "project", "created_at": "2026-03-01 09:33:00", "updated_at": "2026-03-01 09:33:00", "deleted_at": "2026-03-01 09:40:00"},
    {"id": "six", "session_id": "s1"},
    {"id": 7, "session_id": "s1", "type": "Ritual", "title": "Standup at nine", "content": "", "scope": "project", "topic_key": "not a key!", "created_at": "", "updated_at": ""}
  ],
  "prompts": [
    {"id": 1, "session_id": "s1", "content": "where is the dock?", "project": "Port Tool", "created_at": "2026-03-01 09:05:00"}
  ],
  "later": {"what": ["comes", {"in": "new versions"}]}
}
`

func options(t testing.TB) engram.Options {
	t.Helper()
	date, err := memd.ParseTime("2026-03-03T00:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return engram.Options{
		Origin: importers.Origin{File: "engram.json", Source: "./engram.json", Date: date},
		Project: func(dir string) string {
			if dir == "/src/port" {
				return "project/port-1234"
			}
			return ""
		},
	}
}

func read(t testing.TB, text string, o engram.Options) (found []importers.Item, faults []string) {
	t.Helper()
	for item, err := range engram.Read(strings.NewReader(text), o) {
		if fault, ok := errors.AsType[*notes.Fault](err); ok {
			faults = append(faults, fault.Error())
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = append(found, item)
		}
	}
	return found, faults
}

func TestExport(t *testing.T) {
	found, faults := read(t, export, options(t))
	if len(faults) != 1 || !strings.HasPrefix(faults[0], "engram.json:15: ") {
		t.Errorf("faults are %q", faults)
	}
	var got []string
	for _, it := range found {
		if m := it.Long; m != nil {
			key, _, _ := strings.Cut(m.MemoryKey, "-")
			got = append(got, strings.Join([]string{"long", m.Namespace, string(m.Kind), key, m.Summary, m.RawContent, m.Source, m.VerifiedAt.String(), strings.Join(m.Tags, ",")}, "|"))
		} else {
			m := it.Short
			got = append(got, strings.Join([]string{"short", m.Namespace, string(m.Kind), m.SessionID, m.Summary, m.RawContent, m.CreatedAt.String(), m.UpdatedAt.String(), strings.Join(m.Tags, ",")}, "|"))
		}
	}
	want := []string{
		"short|project/port-1234|summary|s1|moved the port to the new dock|moved the port to the new dock|2026-03-01T09:00:00.000Z|2026-03-01T10:00:00.000Z|",
		"long|project/port-1234|decision|architecture/transport|Ship by rail: Rail it is. Roads flood.|Rail it is.\n\nRoads flood.|./engram.json#1|2026-03-01T09:20:00.000Z|",
		"long|project/other|pitfall|engram/crane|Crane counts twice: Reset the counter first.|Reset the counter first.|./engram.json#2|2026-03-01T09:30:00.000Z|",
		"long|user|preference|engram/tea|Tea: green|green|./engram.json#3|2026-03-01T09:31:00.000Z|",
		"short|project/port-1234|event|s1|ran tests: all pass|all pass|2026-03-01T09:32:00.000Z|2026-03-01T09:32:00.000Z|bash",
		"long|project/port-1234|fact|engram/not|Standup at nine||./engram.json#7|2026-03-03T00:00:00.000Z|ritual",
		"short|project/port-1234|event|s1|User: where is the dock?|where is the dock?|2026-03-01T09:05:00.000Z|2026-03-01T09:05:00.000Z|",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A namespace that was asked for is that of everything.
func TestNamespaceAskedFor(t *testing.T) {
	o := options(t)
	o.Namespace = "team/dock"
	found, _ := read(t, export, o)
	for _, it := range found {
		if it.Long != nil && it.Long.Namespace != o.Namespace || it.Short != nil && it.Short.Namespace != o.Namespace {
			t.Fatalf("%+v", it)
		}
	}
}

// Of a document that is cut short or broken what stands before is read.
func TestBrokenDocuments(t *testing.T) {
	cut := export[:strings.Index(export, `{"id": 3`)]
	for name, text := range map[string]string{
		"cut":     cut,
		"broken":  cut + "}}}",
		"deep":    cut + `{"x":` + strings.Repeat("[", 20_000),
		"endless": cut + `{"content":"` + strings.Repeat("x", importers.MaxEntry+100_000) + `"}`,
	} {
		found, faults := read(t, text, options(t))
		if len(found) != 3 || len(faults) != 1 {
			t.Errorf("%s: %d found, %q", name, len(found), faults)
		}
	}
	for _, text := range []string{"", "[]", "7", "{}", "null", `[{"id":1}]`} {
		if found, faults := read(t, text, options(t)); len(found) > 0 || len(faults) != 1 {
			t.Errorf("%s: found %d, %q", text, len(found), faults)
		}
	}
	if found, faults := read(t, `{"version":"0.1.0","observations":null}`, options(t)); len(found)+len(faults) > 0 {
		t.Errorf("an empty store: %d, %q", len(found), faults)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(export))
	f.Add([]byte("8e888"))
	f.Add([]byte(`{"observations":[{"title":"\u0000","type":"x","content":"` + "\xff" + `"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for item, err := range engram.Read(bytes.NewReader(data), options(t)) {
			if fault, ok := errors.AsType[*notes.Fault](err); ok {
				if fault.Line < 1 || fault.Line > bytes.Count(data, []byte("\n"))+1 {
					t.Fatalf("line %d", fault.Line)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			summary, raw, ns := "", "", ""
			if m := item.Long; m != nil {
				summary, raw, ns = m.Summary, m.RawContent, m.Namespace
				if !memd.ValidKey(m.MemoryKey) {
					t.Fatalf("key %q", m.MemoryKey)
				}
			} else {
				summary, raw, ns = item.Short.Summary, item.Short.RawContent, item.Short.Namespace
			}
			if len(raw) > importers.MaxRaw || utf8.RuneCountInString(summary) > importers.MaxSummary || !memd.ValidNamespace(ns) {
				t.Fatalf("%d bytes, %d characters, in %q", len(raw), utf8.RuneCountInString(summary), ns)
			}
		}
	})
}

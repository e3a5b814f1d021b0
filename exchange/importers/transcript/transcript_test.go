package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/importers/transcript"
	"memd/exchange/notes"
)

func options(t testing.TB) transcript.Options {
	t.Helper()
	date, err := memd.ParseTime("2026-03-03T00:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return transcript.Options{
		Origin:  importers.Origin{File: "chats/dock.jsonl", Source: "chats/dock.jsonl", Date: date},
		Project: func(dir string) string { return map[string]string{"/src/port": "project/port-1"}[dir] },
	}
}

func read(t testing.TB, text string) (found []memd.Memory, faults []string) {
	t.Helper()
	for item, err := range transcript.Read(strings.NewReader(text), options(t)) {
		if fault, ok := errors.AsType[*notes.Fault](err); ok {
			faults = append(faults, fault.Error())
		} else if err != nil {
			t.Fatal(err)
		} else {
			found = append(found, *item.Short)
		}
	}
	return found, faults
}

// said are the texts of memories.
func said(found []memd.Memory) string {
	var all []string
	for _, m := range found {
		all = append(all, m.RawContent)
	}
	return strings.Join(all, "\n=\n")
}

const session = `{"type":"summary","summary":"Dock","leafUuid":"z"}
{"type":"user","uuid":"u0","sessionId":"s-1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/src/port","isMeta":true,"message":{"role":"user","content":"caveat"}}
{"type":"user","uuid":"u1","sessionId":"s-1","timestamp":"2026-03-01T10:00:01.000Z","cwd":"/src/port","message":{"role":"user","content":"Where is the dock?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s-1","timestamp":"2026-03-01T10:00:02.000Z","cwd":"/src/port","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"x"}}]}}
{"type":"user","uuid":"u2","sessionId":"s-1","timestamp":"2026-03-01T10:00:03.000Z","cwd":"/src/port","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"the whole file"}]}}
{"type":"assistant","uuid":"a2","sessionId":"s-1","timestamp":"2026-03-01T10:00:04.000Z","cwd":"/src/port","message":{"role":"assistant","content":[{"type":"text","text":"At the north gate."}]}}
{"type":"assistant","uuid":"x1","sessionId":"s-1","isSidechain":true,"timestamp":"2026-03-01T10:00:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"beside"}]}}
{"type":"user","uuid":"u3","sessionId":"s-1","timestamp":"2026-03-01T10:01:00.000Z","cwd":"/src/port","message":{"role":"user","content":"<command-name>/clear</command-name>"}}
{"type":"user","uuid":"u4","sessionId":"s-1","timestamp":"2026-03-01T10:02:00.000Z","cwd":"/src/port","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>be good</system-reminder>Thanks, and the crane?"},{"type":"image","source":{"data":"AAAA"}}]}}
{"type":"user","uuid":"u5","sessionId":"s-1","timestamp":"2026-03-01T10:03:00.000Z","cwd":"/src/port","message":{"role":"user","content":"<task-notification>\n<task-id>b1</task-id>\n<summary>a hidden <b>job</b> ended</summary>\n</task-notification>"}}
{"type":"user","uuid":"u6","sessionId":"s-1","timestamp":"2026-03-01T10:04:00.000Z","cwd":"/src/port","message":{"role":"user","content":"<user-prompt-submit-hook>checked</user-prompt-submit-hook>"}}
{"type":"file-history-snapshot","messageId":"q"}
`

func TestClaudeCode(t *testing.T) {
	found, faults := read(t, session)
	if len(faults) > 0 || said(found) != "User: Where is the dock?\n\nAssistant: I look.\n\nAt the north gate.\n=\nUser: Thanks, and the crane?" {
		t.Fatalf("%q, %q", said(found), faults)
	}
	m := found[0]
	if m.Namespace != "project/port-1" || m.SessionID != "s-1" || m.Agent != "claude-code" || m.Kind != memd.Event || m.Tier != memd.Short || m.Source != "chats/dock.jsonl:3" ||
		m.CreatedAt.String() != "2026-03-01T10:00:01.000Z" || m.UpdatedAt.String() != "2026-03-01T10:00:04.000Z" {
		t.Errorf("%+v", m)
	}
	if want := "User: Where is the dock? Assistant: I look. At the north gate."; m.Summary != want {
		t.Errorf("summary is %q", m.Summary)
	}
}

// An exchange that has gone on since is the same one, wherever the file lies.
func TestIDsFollowFromTheMessages(t *testing.T) {
	whole, _ := read(t, session)
	begun, _ := read(t, session[:strings.Index(session, `{"type":"assistant","uuid":"a2"`)])
	moved := options(t)
	moved.File, moved.Source, moved.Date = "elsewhere/y.jsonl", "elsewhere/y.jsonl", memd.Time{}
	for item := range transcript.Read(strings.NewReader(session), moved) {
		if item.Short.ID != whole[0].ID {
			t.Error("the id follows from the file's place")
		}
		break
	}
	if begun[0].ID != whole[0].ID || whole[0].ID == whole[1].ID {
		t.Errorf("%s, %s, %s", begun[0].ID, whole[0].ID, whole[1].ID)
	}
}

func TestMessages(t *testing.T) {
	const want = "User: where?\n\nAssistant: here\n=\nUser: ok"
	for name, text := range map[string]string{
		"lines":    `{"role":"system","content":"be good"}` + "\n" + `{"role":"user","content":"where?","timestamp":1772359200}` + "\n\n" + `{"role":"assistant","content":"here","created_at":"2026-03-01T10:00:05Z"}` + "\r\n" + `{"role":"tool","content":"x"}` + "\n" + `{"role":"user","content":"ok","ts":1772359300000}`,
		"array":    `[{"role":"developer","content":"x"},{"role":"user","content":[{"type":"input_text","text":"where?"}]},` + "\n" + `{"role":"assistant","content":[{"type":"output_text","text":"here"}],"tool_calls":[]},{"role":"user","content":"ok"}]`,
		"document": `{"id":"c-1","model":"m","params":null, "messages": [{"role":"user","content":"where?"},{"role":"assistant","content":"here"},{"role":"user","content":"ok"}], "usage":{"n":[1]}}`,
		"pretty":   "{\n \"messages\": [\n  {\"role\": \"user\",\n   \"content\": \"where?\"},\n  {\"role\": \"assistant\", \"content\": \"here\"}, {\"role\": \"user\", \"content\": \"ok\"}]\n}",
		"text":     "User: where?\nAssistant: here\nUser: ok\n",
		"markdown": "# A chat\n\n**User:** where?\n\n**Assistant**: here\n\n**User:** ok",
		"headings": "## User\n\nwhere?\n\n## Assistant (2026-03-01 10:00)\n\nhere\n\n### System:\nbe good\n\n## Human\nok\n",
		"times":    "\ufeff[2026-03-01 10:00] User: where?\r\n[2026-03-01 10:01] AI: here\r\n[2026-03-01 10:02] User: ok\r\n",
		"chinese":  "用户：where?\n助手：here\n用户：ok\n",
	} {
		found, faults := read(t, text)
		if said(found) != want || len(faults) > 0 {
			t.Errorf("%s: %q, %q", name, said(found), faults)
			continue
		}
		at := "2026-03-01T10:00:00.000Z"
		if name != "lines" && name != "times" && name != "headings" {
			at = "2026-03-03T00:00:00.000Z" // the file's
		}
		session := "dock"
		if name == "document" {
			session = "c-1"
		}
		if m := found[0]; m.CreatedAt.String() != at || m.SessionID != session || m.Namespace != "default" || !strings.HasPrefix(m.Source, "chats/dock.jsonl:") {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// What only looks like the start of a turn is part of what is said.
func TestNoTurns(t *testing.T) {
	text := "User: run this\n```\nUser: root\nAssistant: none\n```\nTool: hammer\nuser guide: none\n## User guide\nSystem: Linux\nAssistant: done\n"
	found, faults := read(t, text)
	if want := "User: " + strings.TrimSuffix(text[len("User: "):strings.Index(text, "\nAssistant: done")], "\n") + "\n\nAssistant: done"; len(faults) > 0 || said(found) != want {
		t.Errorf("%q, %q", said(found), faults)
	}
}

func TestSameWordsAgain(t *testing.T) {
	found, _ := read(t, strings.Repeat("User: ok\nAssistant: yes\n", 3))
	if len(found) != 3 || found[0].ID == found[1].ID || found[1].ID == found[2].ID || found[0].ID == found[2].ID {
		t.Fatalf("%d found", len(found))
	}
	again, _ := read(t, strings.Repeat("User: ok\nAssistant: yes\n", 3))
	if again[2].ID != found[2].ID {
		t.Error("the ids change")
	}
}

func TestFaultsNameTheirLines(t *testing.T) {
	found, faults := read(t, strings.Join([]string{
		`{"role":"user","content":"a"}`, `{"role":"user"`, `[1]`, "\xff", strings.Repeat(`{"a":`, 20_000), strings.Repeat("x", importers.MaxEntry+1), `{"role":"assistant","content":"b"}`,
	}, "\n"))
	if said(found) != "User: a\n\nAssistant: b" || len(faults) != 5 {
		t.Fatalf("%q, %q", said(found), faults)
	}
	for i, f := range faults {
		if !strings.HasPrefix(f, fmt.Sprintf("chats/dock.jsonl:%d: ", i+2)) {
			t.Errorf("fault %d is %s", i, f)
		}
	}
	for _, text := range []string{"", "hello\n", "{}", "[]", `[{"role":"system","content":"x"}]`, `{"messages":[]}`} {
		if found, faults := read(t, text); len(found) > 0 || len(faults) != 1 {
			t.Errorf("%q: %d, %q", text, len(found), faults)
		}
	}
	if _, faults := read(t, "User: a\n\x00\nAssistant: b\xff\nAssistant: c\n"); len(faults) != 2 || !strings.HasPrefix(faults[1], "chats/dock.jsonl:3: ") {
		t.Errorf("%q", faults)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(session))
	f.Add([]byte(`{"role":"user","content":"a"}` + "\n" + `{"role":"user","content":"b","time":"2000-01-01"}`))
	f.Add([]byte("## User\nx\n```\nUser: y\n\n**Assistant:** z\n"))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},"b",{"text":1}],"timestamp":"x"}]}`))
	f.Add([]byte(`[{"message":"a","role":"user"},{"message":{"content":null},"type":"assistant","id":"1"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for item, err := range transcript.Read(bytes.NewReader(data), options(t)) {
			if fault, ok := errors.AsType[*notes.Fault](err); ok {
				if fault.Line < 0 || fault.Line > bytes.Count(data, []byte("\n"))+1 {
					t.Fatalf("line %d", fault.Line)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			m := item.Short
			if m.Summary == "" || !utf8.ValidString(m.RawContent) || len(m.RawContent) > importers.MaxRaw || utf8.RuneCountInString(m.Summary) > importers.MaxSummary ||
				m.CreatedAt.IsZero() || m.UpdatedAt.Before(m.CreatedAt.Time) || m.SessionID == "" || utf8.RuneCountInString(m.SessionID) > memd.MaxNameChars {
				t.Fatalf("%+v", m)
			}
		}
	})
}

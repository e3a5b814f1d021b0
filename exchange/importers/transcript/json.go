package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"memd"
	"memd/exchange/importers"
)

// record is a message of JSON, of any of the forms: alone, or within an envelope that
// says when and where.
type record struct {
	Type        string          `json:"type"`
	Role        string          `json:"role"`
	Content     json.RawMessage `json:"content"`
	Message     json.RawMessage `json:"message"`
	UUID        string          `json:"uuid"`
	ID          json.RawMessage `json:"id"`
	SessionID   string          `json:"sessionId"`
	Session     string          `json:"session_id"`
	CWD         string          `json:"cwd"`
	IsMeta      bool            `json:"isMeta"`
	IsSidechain bool            `json:"isSidechain"`
	IsCompact   bool            `json:"isCompactSummary"`
	IsError     bool            `json:"isApiErrorMessage"`

	Timestamp json.RawMessage `json:"timestamp"`
	CreatedAt json.RawMessage `json:"created_at"`
	CreateAt  json.RawMessage `json:"create_time"`
	Time      json.RawMessage `json:"time"`
	TS        json.RawMessage `json:"ts"`
	Date      json.RawMessage `json:"date"`
}

// claudeCode is the agent of sessions whose lines are in its envelope.
const claudeCode = "claude-code"

// lines reads JSON lines.
func (x *exchanges) lines(r io.Reader) {
	lines := importers.NewLines(r)
	for !x.over {
		text, n, err := lines.Next()
		switch {
		case err == io.EOF:
			return
		case errors.Is(err, importers.ErrLong):
			x.fault(n, "the line is %s", err)
		case err != nil:
			x.emit(importers.Item{}, err)
			return
		case len(strings.TrimSpace(string(text))) > 0:
			x.json(text, n, "")
		}
	}
}

// document reads a list of messages, or an object that has one.
func (x *exchanges) document(r io.Reader) {
	session := ""
	for e, err := range importers.Elements(r, "messages") {
		if err != nil {
			x.broken(e.Line, err)
			return
		}
		switch e.Name {
		case "session_id", "sessionId", "conversation_id", "id":
			session = rawText(e.Raw)
		case "messages", "":
			x.json(e.Raw, e.Line, session)
		}
		if x.over {
			return
		}
	}
}

func (x *exchanges) broken(line int, err error) {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, importers.ErrLong):
		x.fault(line, "an entry is %s; what stands behind it is not read", err)
	case syntax, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, importers.ErrForm):
		x.fault(line, "the file is no JSON from here on; what stands before it was read")
	default:
		x.emit(importers.Item{}, err)
	}
}

// json takes a message of JSON.
func (x *exchanges) json(text []byte, line int, session string) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		x.fault(line, "the line is no message in JSON")
		return
	}
	if r.IsMeta || r.IsSidechain || r.IsCompact || r.IsError {
		return
	}
	m := message{line: line, at: r.when(), id: r.UUID, session: first(r.SessionID, r.Session, session), dir: r.CWD}
	inner := r
	if len(r.Message) > 0 {
		inner = record{}
		if err := json.Unmarshal(r.Message, &inner); err != nil {
			inner = record{Role: r.Role, Content: r.Message} // its text alone
		}
		inner.Role = first(inner.Role, r.Role, r.Type)
		if m.at.IsZero() {
			m.at = inner.when()
		}
		if r.UUID != "" && r.SessionID != "" {
			m.agent = claudeCode
		}
	}
	if m.id == "" {
		m.id = first(rawText(r.ID), rawText(inner.ID))
	}
	if m.role = roleOf(first(inner.Role, inner.Type)); m.role == "" {
		return
	}
	m.text = said(inner.Content)
	x.add(m)
}

// when is the time of a message.
func (r record) when() (at memd.Time) {
	for _, raw := range []json.RawMessage{r.Timestamp, r.CreatedAt, r.CreateAt, r.Time, r.TS, r.Date} {
		if at = importers.Instant(raw); !at.IsZero() {
			return at
		}
	}
	return at
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// roleOf is the role that a word means, "" for one that is left out.
func roleOf(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "user", "human", "me", "you", "用户", "我", "人类":
		return user
	case "assistant", "ai", "model", "bot", "claude", "chatgpt", "gpt", "gemini", "copilot", "助手", "助理", "模型":
		return assistant
	}
	return ""
}

// block is a part of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// said is the text of a content: a string, or a list of strings and blocks. Pictures,
// calls of tools and what they gave back, and thoughts are no text of it.
func said(content json.RawMessage) string {
	if s := rawText(content); s != "" {
		return spoken(s)
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, part := range parts {
		b := block{Type: "text", Text: rawText(part)}
		if b.Text == "" && json.Unmarshal(part, &b) != nil {
			continue
		}
		switch b.Type {
		case "text", "input_text", "output_text":
			if s := spoken(b.Text); s != "" {
				texts = append(texts, s)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// Programs write into the user's turn what the user did not say: reminders for the model,
// news of what runs beside, what hooks said, commands of theirs and what these printed.
var (
	reminders = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>|<ide_selection>.*?</ide_selection>|<ide_opened_file>.*?</ide_opened_file>` +
		`|<task-notification>.*?</task-notification>|<(?:user-prompt-submit|session-start)-hook>.*?</(?:user-prompt-submit|session-start)-hook>`)
	commands = regexp.MustCompile(`^<(command-(name|message|args|contents)|local-command-(stdout|stderr|caveat)|bash-(input|stdout|stderr))>`)
)

// spoken is what of a text the speaker said.
func spoken(s string) string {
	if strings.Contains(s, "</") {
		s = reminders.ReplaceAllString(s, "")
	}
	s = strings.TrimSpace(s)
	if commands.MatchString(s) || strings.HasPrefix(s, "[Request interrupted by user") {
		return ""
	}
	return s
}

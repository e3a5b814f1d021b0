package transcript

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"memd"
	"memd/exchange/importers"
)

// exchanges gathers messages into exchanges, and yields each when the next begins.
type exchanges struct {
	o        Options
	yield    func(importers.Item, error) bool
	over     bool // nobody listens any more
	heard    int  // messages that were taken
	faults   int
	open     bool
	asked    message // that began the exchange, without its text
	id       string
	last     memd.Time
	question strings.Builder
	answer   strings.Builder
	projects map[string]string // namespaces of folders that were looked for
	twins    map[string]int    // of exchanges without a time, how often each was there
}

// fault yields what is wrong with a line.
func (x *exchanges) fault(line int, format string, args ...any) {
	x.faults++
	x.emit(importers.Item{}, x.o.Fault(line, format, args...))
}

func (x *exchanges) emit(item importers.Item, err error) {
	x.over = x.over || !x.yield(item, err)
}

// add takes the next message.
func (x *exchanges) add(m message) {
	if m.role == "" || !importers.Visible(m.text) {
		return
	}
	x.heard++
	// Another user's turn, or another session, begins an exchange. Several messages of
	// one turn are one question.
	fresh := !x.open || m.role == user && x.answer.Len() > 0 || m.session != x.asked.session && m.session != ""
	if fresh {
		if x.end(); x.over {
			return
		}
		x.begin(m)
	}
	into := &x.question
	if m.role == assistant {
		into = &x.answer
		if m.agent != "" {
			x.asked.agent = m.agent
		}
	}
	if into.Len() < 2*importers.MaxRaw { // more will be cut
		if into.Len() > 0 {
			into.WriteString("\n\n")
		}
		into.WriteString(m.text[:min(len(m.text), 2*importers.MaxRaw)])
	}
	if m.at.After(x.last.Time) {
		x.last = m.at
	}
}

// end yields the exchange that is open.
func (x *exchanges) end() {
	if !x.open || x.over {
		return
	}
	question, answer := strings.ToValidUTF8(strings.TrimSpace(x.question.String()), ""), strings.ToValidUTF8(strings.TrimSpace(x.answer.String()), "")
	x.question.Reset()
	x.answer.Reset()
	x.open = false
	first := x.asked
	m := &memd.Memory{
		Tier: memd.Short, Kind: memd.Event, Namespace: x.namespace(first.dir), Importance: memd.DefaultImportance, Tags: []string{}, Access: []string{},
		Summary: summary(question, answer), RawContent: whole(question, answer), ID: x.id,
		SessionID: importers.Line(first.session, memd.MaxNameChars), Agent: importers.Line(first.agent, memd.MaxNameChars),
		CreatedAt: x.o.When(first.at), UpdatedAt: x.o.When(x.last), WrittenAt: first.at,
	}
	if first.at.IsZero() || m.UpdatedAt.Before(m.CreatedAt.Time) { // only some messages say when
		m.CreatedAt = m.UpdatedAt
	}
	if x.o.Source != "" {
		m.Source = importers.Cited(x.o.Source + ":" + strconv.Itoa(first.line))
	}
	x.emit(importers.Item{File: x.o.File, Line: first.line, Short: m}, nil)
}

// begin opens an exchange. Its id is that of the message that begins it, so that an
// exchange which has gone on since the last import is the same one.
func (x *exchanges) begin(m message) {
	if m.session == "" {
		m.session = x.stem()
	}
	x.id = importers.ID(m.at, "transcript", x.namespace(m.dir), m.session, m.id, m.text)
	if m.at.IsZero() && m.id == "" { // the same words may be said again
		x.twins[x.id]++
		if n := x.twins[x.id]; n > 1 {
			x.id = importers.ID(m.at, "transcript", x.namespace(m.dir), m.session, m.id, m.text, strconv.Itoa(n))
		}
	}
	m.text = ""
	x.open, x.asked, x.last = true, m, m.at
}

// stem is the file's name without its extension, for the session of a file that names
// none.
func (x *exchanges) stem() string {
	base := path.Base(filepath.ToSlash(x.o.File))
	return strings.TrimSuffix(base, path.Ext(base))
}

// Shares of a summary, in code points.
const (
	questionChars = 400
	answerChars   = 1200
)

func summary(question, answer string) string {
	var said []string
	if question != "" {
		said = append(said, "User: "+importers.Line(question, questionChars))
	}
	if answer != "" {
		said = append(said, "Assistant: "+importers.Line(answer, answerChars))
	}
	return strings.Join(said, " ")
}

// whole is what both said, as far as a memory has room for it.
func whole(question, answer string) string {
	const share = importers.MaxRaw / 4
	var said []string
	if question != "" {
		said = append(said, "User: "+importers.Cut(question, max(share, importers.MaxRaw-len(answer)-64)))
	}
	if answer != "" {
		left := importers.MaxRaw - 64
		for _, s := range said {
			left -= len(s)
		}
		said = append(said, "Assistant: "+importers.Cut(answer, left))
	}
	return strings.Join(said, "\n\n")
}

// namespace is the one that was asked for, else that of the project of the folder that
// was worked in.
func (x *exchanges) namespace(dir string) string {
	if x.o.Namespace != "" || dir == "" || x.o.Project == nil {
		return x.o.In(memd.DefaultNamespace)
	}
	found, known := x.projects[dir]
	if !known {
		if found = x.o.Project(dir); found == "" {
			found = memd.DefaultNamespace
		}
		x.projects[dir] = found
	}
	return found
}

// Package engram reads what "engram export" writes, the program of
// github.com/Gentleman-Programming/engram: a JSON document with version, exported_at,
// sessions, observations and prompts, as its releases since 0.1 write it. Fields that
// later ones added, sync_id among them, are used where they are there.
//
// An observation that says what holds is a long row under its topic_key or its title;
// one that tells of a tool or of a session, the summary of a session and a prompt are
// short rows.
package engram

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"memd"
	"memd/exchange/importers"
)

// Options say where an export stands.
type Options struct {
	importers.Origin
	// Project is the namespace of the project that a folder of this machine belongs
	// to, "" where there is none. It may be nil.
	Project func(dir string) string
}

type session struct {
	ID        string `json:"id"`
	Project   string `json:"project"`
	Directory string `json:"directory"`
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at"`
	Summary   string `json:"summary"`
}

type observation struct {
	ID        int64  `json:"id"`
	SyncID    string `json:"sync_id"`
	SessionID string `json:"session_id"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	ToolName  string `json:"tool_name"`
	Project   string `json:"project"`
	Scope     string `json:"scope"`
	TopicKey  string `json:"topic_key"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	DeletedAt string `json:"deleted_at"`
}

type prompt struct {
	ID        int64  `json:"id"`
	SyncID    string `json:"sync_id"`
	SessionID string `json:"session_id"`
	Content   string `json:"content"`
	Project   string `json:"project"`
	CreatedAt string `json:"created_at"`
}

// agent is that of rows of which nobody says more.
const agent = "engram"

// maxFolders bounds the sessions whose folder is kept while a file is read. Rows of
// others have the namespace of their project's name.
const maxFolders = 100_000

// reader is one reading of a file.
type reader struct {
	Options
	folders  map[string]string // of sessions
	projects map[string]string // namespaces of folders that were looked for
	yield    func(importers.Item, error) bool
}

// Read reads an export.
func Read(file io.ReadSeeker, o Options) importers.Items {
	return func(yield func(importers.Item, error) bool) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(importers.Item{}, err)
			return
		}
		r := &reader{Options: o, folders: map[string]string{}, projects: map[string]string{}, yield: yield}
		known := false
		for e, err := range importers.Elements(file, "sessions", "observations", "prompts") {
			if err != nil {
				r.fail(e.Line, err)
				return
			}
			known = known || e.Name != ""
			if !r.element(e) {
				return
			}
		}
		if !known {
			r.yield(importers.Item{}, r.Fault(1, "the file is no export of engram"))
		}
	}
}

// fail reports what ended the reading: a document that is none, or the disk.
func (r *reader) fail(line int, err error) {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, importers.ErrLong):
		err = r.Fault(line, "an entry is %s; what stands behind it is not read", err)
	case syntax, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, importers.ErrForm):
		err = r.Fault(line, "the file is no JSON from here on; what stands before it was read")
	}
	r.yield(importers.Item{}, err)
}

// element yields what an element says, and reports whether to go on.
func (r *reader) element(e importers.Element) bool {
	var item importers.Item
	var err error
	switch e.Name {
	case "sessions":
		var s session
		if err = json.Unmarshal(e.Raw, &s); err == nil {
			item = r.session(s)
		}
	case "observations":
		var ob observation
		if err = json.Unmarshal(e.Raw, &ob); err == nil {
			item = r.observation(ob)
		}
	case "prompts":
		var p prompt
		if err = json.Unmarshal(e.Raw, &p); err == nil {
			item = r.prompt(p)
		}
	}
	if err != nil {
		return r.yield(importers.Item{}, r.Fault(e.Line, "the entry of %s is not of its form", e.Name))
	}
	if item.Long == nil && item.Short == nil {
		return true
	}
	item.File, item.Line = r.File, e.Line
	return r.yield(item, nil)
}

// session is the row of a session that was summed up.
func (r *reader) session(s session) importers.Item {
	if len(r.folders) < maxFolders {
		r.folders[s.ID] = s.Directory
	}
	if !importers.Visible(s.Summary) {
		return importers.Item{}
	}
	m := r.row(memd.Summary, s.ID, s.Project, "", s.StartedAt, s.EndedAt)
	m.ID = importers.ID(m.CreatedAt, agent, m.Namespace, "session", s.ID)
	return short(m, s.Summary, s.Summary)
}

func (r *reader) prompt(p prompt) importers.Item {
	if !importers.Visible(p.Content) {
		return importers.Item{}
	}
	m := r.row(memd.Event, p.SessionID, p.Project, "", p.CreatedAt, "")
	m.ID = importers.ID(m.CreatedAt, agent, m.Namespace, "prompt", identity(p.SyncID, p.ID, p.CreatedAt), p.Content)
	return short(m, "User: "+p.Content, p.Content)
}

// row is a short row without its texts.
func (r *reader) row(kind memd.Kind, session, project, scope, created, updated string) *memd.Memory {
	m := &memd.Memory{
		Tier: memd.Short, Kind: kind, Namespace: r.namespace(session, project, scope), Importance: memd.DefaultImportance,
		Tags: []string{}, Access: []string{}, SessionID: importers.Line(session, memd.MaxNameChars), Agent: agent,
		CreatedAt: r.When(importers.Time(created)), WrittenAt: importers.Time(created),
	}
	if m.UpdatedAt = importers.Time(updated); m.UpdatedAt.IsZero() {
		m.UpdatedAt = m.CreatedAt
	}
	return m
}

func short(m *memd.Memory, summary, raw string) importers.Item {
	m.Summary, m.RawContent = importers.Line(summary, importers.MaxSummary), importers.Cut(raw, importers.MaxRaw)
	return importers.Item{Short: m}
}

// kindOf is the kind of a type of observations. A type that is not here is a word that
// somebody chose, for a fact.
func kindOf(typ string) (kind memd.Kind, known bool) {
	switch typ {
	case "decision", "architecture":
		return memd.Decision, true
	case "pattern", "convention":
		return memd.Practice, true
	case "bugfix", "gotcha":
		return memd.Pitfall, true
	case "preference":
		return memd.Preference, true
	case "rule":
		return memd.Rule, true
	}
	return memd.Fact, false
}

// passing are types of what happened, not of what holds.
const passing = " tool_use file_change file_read command search event passive "

func (r *reader) observation(ob observation) importers.Item {
	if ob.DeletedAt != "" {
		return importers.Item{}
	}
	kind := strings.ToLower(strings.TrimSpace(ob.Type))
	switch {
	case kind == "session_summary":
		return r.happened(ob, memd.Summary)
	case ob.TopicKey == "" && strings.Contains(passing, " "+kind+" "):
		return r.happened(ob, memd.Event)
	}
	return r.holds(ob, kind)
}

func (r *reader) happened(ob observation, kind memd.Kind) importers.Item {
	m := r.row(kind, ob.SessionID, ob.Project, ob.Scope, ob.CreatedAt, ob.UpdatedAt)
	m.ID = importers.ID(m.CreatedAt, agent, m.Namespace, "observation", identity(ob.SyncID, ob.ID, ob.CreatedAt), ob.Title)
	if tool := importers.Line(ob.ToolName, memd.MaxTagChars); tool != "" {
		m.Tags = []string{tool}
	}
	return short(m, titled(ob.Title, ob.Content), ob.Content)
}

func (r *reader) holds(ob observation, kind string) importers.Item {
	req := &memd.RememberLongTerm{
		Namespace: r.namespace(ob.SessionID, ob.Project, ob.Scope),
		MemoryKey: ob.TopicKey, Source: r.Source + "#" + strconv.FormatInt(ob.ID, 10),
		Summary: importers.Line(titled(ob.Title, ob.Content), importers.MaxSummary), RawContent: importers.Cut(strings.TrimSpace(ob.Content), importers.MaxRaw),
		VerifiedAt: r.When(importers.Time(ob.UpdatedAt)),
	}
	known := false
	if req.Kind, known = kindOf(kind); !known && kind != "" {
		req.Tags = []string{importers.Line(kind, memd.MaxTagChars)}
	}
	switch name := ob.TopicKey; {
	case name == "": // titles repeat
		req.MemoryKey = importers.Key(agent, ob.Title+"\x00"+identity(ob.SyncID, ob.ID, ob.CreatedAt))
	case !memd.ValidKey(name):
		req.MemoryKey = importers.Key(agent, name)
	}
	return importers.Item{Long: req}
}

// identity tells an entry from others of its kind. Numbers are those of one database.
func identity(sync string, id int64, created string) string {
	if sync != "" {
		return sync
	}
	return strconv.FormatInt(id, 10) + " " + created
}

// titled is a content under its title, in one line.
func titled(title, content string) string {
	title, content = importers.Line(title, 300), importers.Line(content, importers.MaxSummary)
	switch {
	case title == "" || strings.HasPrefix(content, title):
		return content
	case content == "":
		return title
	}
	return title + ": " + content
}

// namespace is the user's for what is personal; else that of the project that the
// session's folder belongs to on this machine, or else of the project's name.
func (r *reader) namespace(session, project, scope string) string {
	if r.Namespace != "" {
		return r.Namespace
	}
	if strings.EqualFold(strings.TrimSpace(scope), "personal") {
		return "user"
	}
	if dir := r.folders[session]; dir != "" && r.Project != nil {
		found, known := r.projects[dir]
		if !known {
			found = r.Project(dir)
			r.projects[dir] = found
		}
		if found != "" {
			return found
		}
	}
	if ns := importers.Namespace("project/", project); ns != "" {
		return ns
	}
	return memd.DefaultNamespace
}

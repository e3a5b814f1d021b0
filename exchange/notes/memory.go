package notes

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"memd"
)

// isType reports whether a kind is a type of notes as well. A note of any other kind
// states it beside its type.
func isType(k memd.Kind) bool { return slices.Contains(types[:], Type(k)) }

// kind is the kind of the note's memory.
func (n *Note) kind() memd.Kind {
	if n.Kind != "" {
		return n.Kind
	}
	return memd.Kind(n.Type)
}

// typeOf is the type under which a memory is written.
func typeOf(k memd.Kind) Type {
	switch {
	case isType(k):
		return Type(k)
	case k == memd.Preference:
		return User
	}
	return Reference
}

// FromMemory makes the note of a long-term row. over is the note that stands in its
// file, nil for none: how that was written, the fields that memd does not know, and a
// type that fits the row are kept. The note states everything, its Source too.
func FromMemory(m memd.Memory, over *Note) *Note {
	n := &Note{
		Description: m.Summary, Type: typeOf(m.Kind), Why: inline(m.Why), HowToApply: inline(m.HowToApply),
		MemoryKey: m.MemoryKey, Namespace: m.Namespace, Importance: m.Importance, Tags: slices.Clone(m.Tags), Source: m.Source,
		VerifiedAt: m.VerifiedAt, Owner: m.Owner, Access: slices.Clone(m.Access), ExpiresAt: m.ExpiresAt, ResolvedAt: m.ResolvedAt,
		UpdatedAt: m.UpdatedAt, ContentHash: m.ContentHash, Version: m.Version,
	}
	n.Name, n.Body = untitled(m)
	if !isType(m.Kind) {
		n.Kind = m.Kind
	}
	if len(n.Tags) == 0 {
		n.Tags = nil
	}
	if len(n.Access) == 0 {
		n.Access = nil
	}
	if over != nil {
		n.written = over.written
		if n.Kind != "" && over.Type != "" && (!memd.Kind(over.Type).Reasoned() || n.Why != "" && n.HowToApply != "") {
			n.Type = over.Type
		}
	}
	n.SyncHash = n.Digest()
	return n
}

// At returns the note as its file states it, which says nothing of a source that is the
// file itself.
func (n *Note) At(p Place) *Note {
	r := *n
	if r.Source == p.Source {
		r.Source = ""
	}
	return &r
}

// Stamped returns a note as its file states it, with what memd keeps in a file of the
// row that it is the same as: everything else stays as a person wrote it. sync is the
// Digest of what the file states, resolved.
func (n *Note) Stamped(row *Note, sync string) *Note {
	r := *n
	r.MemoryKey, r.Namespace = row.MemoryKey, row.Namespace
	r.UpdatedAt, r.ContentHash, r.Version, r.SyncHash = row.UpdatedAt, row.ContentHash, row.Version, sync
	return &r
}

// IsStamped reports whether Stamped would change nothing.
func (n *Note) IsStamped(row *Note, sync string) bool {
	return n.MemoryKey == row.MemoryKey && n.Namespace == row.Namespace && n.UpdatedAt == row.UpdatedAt &&
		n.ContentHash == row.ContentHash && n.Version == row.Version && n.SyncHash == sync
}

// A row has no title. One that its key does not tell is the first line of raw_content,
// a comment that Markdown does not show.
const (
	titleOpens  = "<!-- name: "
	titleCloses = " -->"
)

// titled is the raw_content of a note.
func (n *Note) titled() string {
	body := block(n.Body)
	if _, _, opens := title(body); n.Name == n.MemoryKey && !opens {
		return body
	}
	name, _ := json.Marshal(n.Name) // escapes < and >, so that it ends no comment
	return strings.TrimSuffix(titleOpens+string(name)+titleCloses+"\n"+body, "\n")
}

// untitled takes the name and the body of a row apart.
func untitled(m memd.Memory) (name, body string) {
	body = block(m.RawContent)
	if name, rest, ok := title(body); ok {
		return name, block(rest)
	}
	return m.MemoryKey, body
}

func title(body string) (name, rest string, ok bool) {
	first, rest, _ := strings.Cut(body, "\n")
	inner, opens := strings.CutPrefix(first, titleOpens)
	inner, closes := strings.CutSuffix(inner, titleCloses)
	if !opens || !closes || json.Unmarshal([]byte(inner), &name) != nil || !visible(name) {
		return "", "", false
	}
	return name, rest, true
}

// Place is where a note's file stands, as far as its memory depends on that.
type Place struct {
	Source    string // the file as the source of a memory: its path below the namespace's root, see SourceOf
	Namespace string // asked for, for notes that state none; "" for none
	Project   string // the namespace of project and reference notes, such as project/memd; "" for none
}

// SourceOf writes the path of a file as a source: what would end it is escaped.
func SourceOf(file string) string {
	var b strings.Builder
	for _, r := range path.Clean(file) {
		if strings.ContainsRune(" %#", r) {
			b.WriteString(url.PathEscape(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Resolve returns the note with what its name, type and place say where it states
// nothing: key, namespace and source. It is a *Fault if the note cannot be a memory.
func (n *Note) Resolve(p Place) (*Note, error) {
	r := *n
	if r.MemoryKey == "" {
		r.MemoryKey = KeyOf(r.Name)
	}
	if r.Namespace == "" {
		r.Namespace = p.Namespace
	}
	if r.Namespace == "" && (r.Type == User || r.Type == Feedback) {
		r.Namespace = "user"
	}
	if r.Namespace == "" {
		r.Namespace = p.Project
	}
	if r.Source == "" {
		r.Source = p.Source
	}
	if r.Namespace == "" {
		return nil, &Fault{Line: n.lineOf("type"), Code: memd.CodeMissingField, Field: "namespace", Reason: "a note of type " + string(r.Type) + " needs a project or a namespace"}
	}
	if r.kind().Reasoned() || memd.Kind(r.Type).Reasoned() {
		for _, f := range []struct{ field, marker, value string }{{"why", "**Why:**", r.Why}, {"how_to_apply", "**How to apply:**", r.HowToApply}} {
			if !visible(f.value) {
				return nil, &Fault{
					Line: n.lineOf("type"), Code: memd.CodeMissingField, Field: f.field,
					Reason: "a note of type " + string(r.Type) + " needs a paragraph that begins with " + f.marker + ": without it nobody can tell later when it holds",
				}
			}
		}
	}
	return &r, nil
}

// Over returns a resolved note with what it does not state taken from the row that
// stands under its key, as a write would leave it.
func (n *Note) Over(stored *Note) *Note {
	r := *n
	if r.Importance == 0 {
		r.Importance = stored.Importance
	}
	if r.Tags == nil {
		r.Tags = stored.Tags
	}
	if r.Access == nil {
		r.Access = stored.Access
	}
	if r.Owner == "" {
		r.Owner = stored.Owner
	}
	for _, t := range []struct {
		to   *memd.Time
		from memd.Time
	}{{&r.VerifiedAt, stored.VerifiedAt}, {&r.ExpiresAt, stored.ExpiresAt}, {&r.ResolvedAt, stored.ResolvedAt}} {
		if t.to.IsZero() {
			*t.to = t.from
		}
	}
	return &r
}

// Request asks for the row of a resolved note. base is the version of the row that it
// was compared with, 0 for none. What Patch returns must follow.
func (n *Note) Request(base int) memd.RememberLongTerm {
	req := memd.RememberLongTerm{
		MemoryKey: n.MemoryKey, Summary: n.Description, Source: n.Source, RawContent: n.titled(), Why: inline(n.Why), HowToApply: inline(n.HowToApply),
		Kind: n.kind(), Tags: n.Tags, VerifiedAt: n.VerifiedAt, Owner: n.Owner, Access: n.Access, Namespace: n.Namespace, BaseVersion: &base,
	}
	if n.Importance != 0 {
		req.Importance = &n.Importance
	}
	return req
}

// Patch is what a row, as a write answered it, still lacks of the note: lists that are
// to be empty, which a request in JSON cannot ask for, and times of which a write knows
// nothing. It reports whether there is any.
func (n *Note) Patch(m memd.Memory) (memd.Patch, bool) {
	var p memd.Patch
	if n.Tags != nil && len(n.Tags) == 0 && len(m.Tags) > 0 {
		p.Tags = memd.Some([]string{})
	}
	if n.Access != nil && len(n.Access) == 0 && len(m.Access) > 0 {
		p.Access = memd.Some([]string{})
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.Equal(m.ExpiresAt.Time) {
		p.ExpiresAt = memd.Some(n.ExpiresAt)
	}
	if !n.ResolvedAt.IsZero() && !n.ResolvedAt.Equal(m.ResolvedAt.Time) {
		p.ResolvedAt = memd.Some(n.ResolvedAt)
	}
	return p, p.Tags.Set || p.Access.Set || p.ExpiresAt.Set || p.ResolvedAt.Set
}

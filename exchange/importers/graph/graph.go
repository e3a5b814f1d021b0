// Package graph reads the knowledge graph of the MCP reference server "memory": its
// memory.json, later named memory.jsonl, one entity or relation a line.
//
// One entity is one memory, with its observations and its relations, so that a question
// finds them together and the keys stay few. What does not fit one memory goes on in
// further ones.
package graph

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"memd"
	"memd/exchange/importers"
)

// record is a line of the file.
type record struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

// folder holds the keys of entities.
const folder = "entity"

// Read reads a graph. Relations may stand behind the entities that they join, so that
// the file is read twice.
func Read(file io.ReadSeeker, o importers.Origin) importers.Items {
	return func(yield func(importers.Item, error) bool) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(importers.Item{}, err)
			return
		}
		g := &relations{of: map[string][]string{}, known: map[[16]byte]bool{}}
		for r, err := range records(file, o) {
			switch {
			case err != nil: // is told below
			case r.Type == "relation":
				g.add(r.record)
			default:
				g.known[digest(r.Name)] = true
			}
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(importers.Item{}, err)
			return
		}
		for r, err := range records(file, o) {
			if err != nil {
				if !yield(importers.Item{}, err) {
					return
				}
				continue
			}
			goOn := true
			if r.Type == "entity" {
				goOn = entity(r, g, o, yield)
			} else if !g.known[digest(r.From)] && !g.known[digest(r.To)] {
				goOn = yield(importers.Item{}, o.Fault(r.line, "the relation joins two entities that are not in the file"))
			}
			if !goOn {
				return
			}
		}
		if g.left > 0 {
			yield(importers.Item{}, o.Fault(0, "the file has %d relations more than memd reads", g.left))
		}
	}
}

// numbered is a record and its line.
type numbered struct {
	record
	line int
}

// records are the entities and relations of a file, and faults.
func records(r io.Reader, o importers.Origin) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		lines := importers.NewLines(r)
		for {
			text, n, err := lines.Next()
			if err == io.EOF {
				return
			}
			rec := numbered{line: n}
			switch {
			case errors.Is(err, importers.ErrLong):
				err = o.Fault(n, "the line is %s", err)
			case err != nil:
				yield(rec, err)
				return
			case len(strings.TrimSpace(string(text))) == 0:
				continue
			default:
				if reason := rec.read(text); reason != "" {
					err = o.Fault(n, "%s", reason)
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// read reads a line, and says what is wrong with it.
func (r *record) read(text []byte) string {
	if err := json.Unmarshal(text, r); err != nil {
		return "the line is no entity and no relation in JSON"
	}
	switch {
	case r.Type == "entity" && !importers.Visible(r.Name):
		return "the entity has no name"
	case r.Type == "relation" && (!importers.Visible(r.From) || !importers.Visible(r.To)):
		return "the relation joins no two entities"
	case r.Type != "entity" && r.Type != "relation":
		return "the line is neither an entity nor a relation"
	}
	return ""
}

// relations are what joins entities, as sentences: the server asks for its types in the
// active voice.
type relations struct {
	of    map[string][]string // by the name of either end
	known map[[16]byte]bool   // entities, by the digest of their names
	n     int
	bytes int
	left  int // that were too many
}

func digest(name string) [16]byte {
	sum := sha256.Sum256([]byte(name))
	return [16]byte(sum[:])
}

// Bounds of what is kept of relations while a file is read.
const (
	maxRelations     = 200_000
	maxRelationBytes = 32 << 20
	maxRelated       = 500 // of one entity
)

func (g *relations) add(r record) {
	sentence := importers.Line(r.From+" "+r.RelationType+" "+r.To, 400)
	if g.n == maxRelations || g.bytes+len(sentence) > maxRelationBytes {
		g.left++
		return
	}
	g.n++
	g.bytes += len(sentence)
	g.join(r.From, sentence)
	if r.To != r.From {
		g.join(r.To, sentence)
	}
}

func (g *relations) join(name, sentence string) {
	if len(g.of[name]) < maxRelated {
		g.of[name] = append(g.of[name], sentence)
	}
}

// entity yields the memories of an entity.
func entity(r numbered, g *relations, o importers.Origin, yield func(importers.Item, error) bool) bool {
	title := importers.Line(r.Name, 200)
	if kind := importers.Line(r.EntityType, 100); kind != "" {
		title += " (" + kind + ")"
	}
	statements := make([]string, 0, len(r.Observations))
	for _, s := range append(r.Observations, g.of[r.Name]...) {
		if importers.Visible(s) {
			statements = append(statements, strings.TrimSpace(s))
		}
	}
	for i := 1; ; i++ {
		var item importers.Item
		item, statements = part(r, title, i, statements, o)
		if !yield(item, nil) {
			return false
		}
		if len(statements) == 0 {
			return true
		}
	}
}

// part is the i-th memory of an entity, and what is left for the next.
func part(r numbered, title string, i int, statements []string, o importers.Origin) (importers.Item, []string) {
	key := importers.Key(folder, r.Name)
	if i > 1 {
		key = importers.Key(folder, r.Name+"\x00"+strconv.Itoa(i))
		title += " " + strconv.Itoa(i)
	}
	var raw strings.Builder
	raw.WriteString(title + "\n")
	n := 0
	for ; n < len(statements); n++ {
		line := "\n- " + importers.Cut(statements[n], importers.MaxRaw/2)
		if raw.Len()+len(line) > importers.MaxRaw {
			break
		}
		raw.WriteString(line)
	}
	summary := title
	if n > 0 {
		summary += ": " + strings.Join(statements[:n], "; ")
	}
	return importers.Item{File: o.File, Line: r.line, Long: &memd.RememberLongTerm{
		MemoryKey: key, Namespace: o.In(memd.DefaultNamespace), Kind: memd.Fact,
		Summary: importers.Line(summary, importers.MaxSummary), RawContent: raw.String(),
		Source: o.Source + "#" + anchor(r.Name), VerifiedAt: o.Date,
	}}, statements[n:]
}

// anchor is a name as a source cites it. One that is too long for that, or ends as a
// line's number does, is cited by its beginning.
func anchor(name string) string {
	return strings.ReplaceAll(url.PathEscape(importers.Line(name, 60)), ":", "%3A")
}

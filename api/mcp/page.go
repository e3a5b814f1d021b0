package mcp

import (
	"encoding/json"
	"strconv"

	"memd"
)

// page is rows as REST answers them.
type page struct {
	rest     object // the answer, its rows left out
	name     string // of the member that is its rows
	rows     []object
	memories []memd.Memory // the same, for the text
	cut      bool          // REST shortened a row
	preface  string        // what memd has to say
	empty    string        // what it says where there are no rows
}

// pageOf reads an answer, its strings made harmless.
func (s *Server) pageOf(raw json.RawMessage, name string) (page, error) {
	o, err := parse(harmless(s.fence, raw))
	if err != nil {
		return page{}, err
	}
	p := page{name: name}
	if p.rows, err = parseList(o.get(name)); err != nil {
		return page{}, err
	}
	p.rest = o.with(name, []object{})
	if cursor := o.text("next_cursor"); cursor != "" {
		p.rest = p.rest.with("next_cursor", s.cursors.short(cursor))
	}
	return p, nil
}

// rowChars is what a row takes beside its texts, about.
const rowChars = 650

// paged answers with the first rows of a page that fit into room. fetch reads a
// page of at most limit rows, with at most bodies code points of texts; 0 stands
// for any number. Fewer rows are asked for anew, so that the cursor goes on
// where they stop.
func (s *Server) paged(limit, room int, fetch func(limit, bodies int) (page, error)) (answer, error) {
	limit = min(limit, max(1, room/rowChars))
	p, err := fetch(limit, max(1, (room-limit*rowChars/2)*3/4))
	for err == nil {
		fit := s.fitting(p, room)
		switch {
		case fit == len(p.rows) && !p.cut:
			return s.several(p), nil
		case len(p.rows) == 1 && !p.cut:
			return s.sole(p, room), nil
		case p.cut:
			limit = 1 // the whole row is shortened here, with a mark
		default:
			limit = max(fit, 1)
		}
		p, err = fetch(limit, 0)
	}
	return answer{}, err
}

// cursorChars is the most that a short cursor takes in an answer.
const cursorChars = 2*shortCursor + 2

// fitting is how many rows of a page fit.
func (s *Server) fitting(p page, room int) int {
	structured := chars(encode(p.rest)) + cursorChars
	text := runes(sheet(s.said(p, len(p.rows)), []string{""})) + cursorChars
	for i := range p.rows {
		structured += chars(encode(p.rows[i])) + 1
		text += runes(entry(s.fence, &p.memories[i]))
		if structured > room || text > room {
			return i
		}
	}
	return len(p.rows)
}

// said is what stands before the fence.
func (s *Server) said(p page, rows int) string {
	if rows == 0 {
		return lines(p.preface, p.empty)
	}
	count := strconv.Itoa(rows) + " memories."
	if rows == 1 {
		count = "1 memory."
	}
	if cursor := p.rest.text("next_cursor"); cursor != "" {
		count += " More with cursor " + s.fence.Line(cursor) + "."
	}
	return lines(p.preface, count)
}

func (s *Server) several(p page) answer {
	var entries []string
	for i := range p.memories {
		entries = append(entries, entry(s.fence, &p.memories[i]))
	}
	return answer{encode(p.rest.with(p.name, append([]object{}, p.rows...))), sheet(s.said(p, len(p.rows)), entries)}
}

// sole answers with one row that does not fit whole.
func (s *Server) sole(p page, room int) answer {
	reserve := chars(encode(p.rest)) + len(`,"shortened":["raw_content","how_to_apply","why","summary","metadata"]`)
	row, cut := shrunk(p.rows[0], room-reserve)
	rest := p.rest
	if len(cut) > 0 {
		rest = rest.with("shortened", cut)
	}
	return answer{
		encode(rest.with(p.name, []object{row})), single(s.fence, s.said(p, 1), &p.memories[0], room),
	}
}

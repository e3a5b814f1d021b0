package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"memd"
	"memd/api/client"
)

func why(ctx context.Context, s *Server, in memd.WhyRequest, room int) (answer, error) {
	in.SessionID = s.own(in.SessionID)
	in.Access = append(in.Access, s.opts.Access...)
	c := s.client(ctx)
	reply, err := reading(ctx, s, c, in.Namespaces, func(names []string) (client.Reply[memd.WhyAnswer], error) {
		in.Namespaces = names
		return c.Why(ctx, in)
	})
	if err != nil {
		return answer{}, err
	}
	o, err := parse(harmless(s.fence, reply.Raw))
	if err != nil {
		return answer{}, err
	}
	w := reply.Value
	said := []string{}
	for _, q := range w.Questions {
		said = append(said, strconv.Itoa(q.N)+". "+q.Question+" "+q.Answer)
		for _, e := range q.Evidence {
			said = append(said, "   - "+e)
		}
	}
	preface := clip(s.fence.Line("Returned: "+strconv.FormatBool(w.Returned)+" ("+string(w.Reason)+"): "+w.Detail+"."), maxDetail)
	body := strings.Join(said, "\n")
	build := func(part string) string { return sheet(preface, []string{s.fence.Indented(clip(body, runes(part)))}) }
	return answer{s.explained(o, room), build(longest(body, room, build))}, nil // evidence names what is stored
}

// explained is an explanation in at most room code points: its evidence goes
// first, then the questions from the last on, then the words.
func (s *Server) explained(o object, room int) json.RawMessage {
	if chars(encode(o)) <= room {
		return encode(o)
	}
	room -= len(`,"shortened":["evidence","questions","detail"]`)
	questions, err := parseList(o.get("questions"))
	if err != nil {
		return encode(o.without("questions"))
	}
	for i := len(questions) - 1; i >= 0 && chars(encode(o.with("questions", questions))) > room; i-- {
		questions[i] = questions[i].with("evidence", []string{})
	}
	o = o.with("questions", questions)
	cut := []string{"evidence"}
	o, fewerQuestions := fewer(o, room, "questions")
	if cut = append(cut, fewerQuestions...); chars(encode(o)) > room {
		o = o.with("detail", clipped(o.text("detail"), max(2, chars(o.get("detail"))-chars(encode(o))+room)))
		cut = append(cut, "detail")
	}
	return encode(o.with("shortened", cut))
}

package mcp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"memd"
	"memd/api/client"
)

func remember(ctx context.Context, s *Server, in memd.Remember, room int) (answer, error) {
	in.Namespace, in.SessionID, in.Agent = s.home(in.Namespace), s.own(in.SessionID), s.opts.Agent
	return s.written(s.client(ctx).Remember(ctx, in))(room)
}

func rememberLongTerm(ctx context.Context, s *Server, in memd.RememberLongTerm, room int) (answer, error) {
	in.Namespace = s.home(in.Namespace)
	c := s.client(ctx)
	if err := s.mayReplace(ctx, c, in); err != nil {
		return answer{}, err
	}
	return s.written(c.RememberLongTerm(ctx, in))(room)
}

// mayReplace refuses to write over a restricted memory whose access tags neither the
// call nor the session names. What else is wrong the write itself tells.
func (s *Server) mayReplace(ctx context.Context, c *client.Client, in memd.RememberLongTerm) error {
	head, err := c.Head(ctx, in.Namespace, in.MemoryKey)
	switch e := refusalOf(ctx, err); {
	case err == nil && !s.names(head.Value.Access, in.Access):
		return memd.FieldErrorf(memd.CodeForbidden, "memory_key", "the key is that of a restricted memory whose access tags are not named").
			WithHint("name them as access, or take another key")
	case err != nil && (e.Code == memd.CodeStoreBusy || e.Code == memd.CodeStoreFailed || e.Code == memd.CodeRateLimited):
		return err
	}
	return nil
}

func note(ctx context.Context, s *Server, in struct {
	memd.Note
	SessionID string `json:"session_id"`
}, room int) (answer, error) {
	session := s.own(in.SessionID)
	if session == s.session {
		s.noted.Store(true) // also where the answer gets lost
	}
	return s.written(s.client(ctx).Note(ctx, session, in.Note))(room)
}

// home is the namespace of a write.
func (s *Server) home(named string) string {
	if named != "" {
		return named
	}
	return s.writes()
}

// own is the session of a call.
func (s *Server) own(named string) string {
	if named != "" {
		return named
	}
	return s.session
}

// written words the answer of a write. The text does not repeat the memory, which
// the model has just written.
func (s *Server) written(reply client.Reply[memd.Written], err error) func(room int) (answer, error) {
	return func(room int) (answer, error) {
		if err != nil {
			return answer{}, err
		}
		w := reply.Value
		o, err := parse(harmless(s.fence, reply.Raw))
		if err != nil {
			return answer{}, err
		}
		said := []string{}
		switch {
		case w.ID == "":
			said = append(said, "Nothing was written.")
		case w.DuplicateOf != "":
			said = append(said, "Known already as the long-term memory "+w.ID+".")
		case w.Deduplicated:
			said = append(said, "Known already as "+w.ID+"; its date is renewed.")
		case w.Unchanged:
			said = append(said, "Unchanged: "+s.nameOf(&w.Memory)+".")
		default:
			said = append(said, "Saved: "+s.nameOf(&w.Memory)+".")
		}
		for _, warning := range w.Warnings {
			said = append(said, "Warning: "+s.fence.Line(warning))
		}
		return answer{s.fitted(o, room, "warnings"), clip(strings.Join(said, "\n"), room)}, nil
	}
}

// nameOf names a memory in a line.
func (s *Server) nameOf(m *memd.Memory) string {
	name := string(m.Tier) + " memory "
	if m.MemoryKey != "" {
		name += m.MemoryKey + " version " + strconv.Itoa(m.Version) + " "
	}
	return s.fence.Line(name + "(id " + m.ID + ", namespace " + m.Namespace + ")")
}

// fitted is one memory's answer in at most room code points.
func (s *Server) fitted(o object, room int, loose ...string) []byte {
	o, less := fewer(o, room, loose...)
	reserve := 0
	if chars(encode(o)) > room {
		reserve = len(`,"shortened":["raw_content","how_to_apply","why","summary","metadata"]`)
	}
	o, cut := shrunk(o, room-reserve)
	if cut = append(less, cut...); len(cut) > 0 {
		o = o.with("shortened", cut)
	}
	return encode(o)
}

func recall(ctx context.Context, s *Server, in memd.Query, room int) (answer, error) {
	in.SessionID, in.Cursor = s.own(in.SessionID), s.cursors.long(in.Cursor)
	in.Access = append(in.Access, s.opts.Access...)
	limit := memd.DefaultRecallLimit
	if in.Limit != nil {
		limit = *in.Limit
	}
	c := s.client(ctx)
	return s.paged(limit, room, func(limit, bodies int) (page, error) {
		q := in
		q.Limit, q.MaxChars = &limit, nil
		if bodies > 0 {
			q.MaxChars = &bodies
		}
		reply, err := reading(ctx, s, c, in.Namespaces, func(names []string) (client.Reply[memd.Answer], error) {
			q.Namespaces = names
			return c.Recall(ctx, q)
		})
		if err != nil {
			return page{}, err
		}
		p, err := s.pageOf(reply.Raw, "results")
		for _, hit := range reply.Value.Results {
			p.memories = append(p.memories, hit.Memory)
			p.cut = p.cut || hit.Shortened
		}
		if len(p.memories) == 0 {
			p.empty = "Nothing was found (" + string(reply.Value.EmptyReason) + ")."
		}
		if len(reply.Value.Degraded) > 0 {
			p.preface = "Incomplete: " + s.fence.Line(strings.Join(reply.Value.Degraded, ", ")) + " could not be asked."
		}
		return p, err
	})
}

func contextOf(ctx context.Context, s *Server, in memd.ContextRequest, room int) (answer, error) {
	in.SessionID = s.own(in.SessionID)
	in.Access = append(in.Access, s.opts.Access...)
	c := s.client(ctx)
	// JSON escapes some characters: where it needs more than there is, less is asked for.
	for budget := room; ; {
		in.MaxChars = &budget
		reply, err := reading(ctx, s, c, in.Namespaces, func(names []string) (client.Reply[memd.Context], error) {
			in.Namespaces = names
			return c.Context(ctx, in)
		})
		if err != nil {
			return answer{}, err
		}
		o, err := parse(reply.Raw) // its text comes out of the fence's hands already
		if err != nil {
			return answer{}, err
		}
		text := reply.Value.Text
		if text == "" {
			text = "Nothing is known yet."
			if len(reply.Value.LeftOut) > 0 {
				text = "Nothing that fits into max_chars; " + strconv.Itoa(len(reply.Value.LeftOut)) + " memories are left out."
			}
		}
		size := chars(encode(o.with("left_out", []string{})))
		if size+len(`,"shortened":["left_out","included"]`) <= room || budget == 1 {
			o, cut := fewer(o, room-len(`,"shortened":["left_out","included"]`), "left_out", "included")
			if len(cut) > 0 {
				o = o.with("shortened", cut)
			}
			return answer{encode(o), text}, nil
		}
		budget = max(1, min(budget-1, budget*room/(size+64)))
	}
}

// target names one memory.
type target struct {
	ID        string   `json:"id"`
	MemoryKey string   `json:"memory_key"`
	Namespace string   `json:"namespace"`
	Access    []string `json:"access"`
}

// check refuses a target that names none, or two.
func (t target) check() error {
	if (t.ID == "") == (t.MemoryKey == "") {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "id", "exactly one of id and memory_key is needed")
	}
	return nil
}

// find reads the memory that a target names: of a key without a namespace, the
// first that has one.
func (s *Server) find(ctx context.Context, c *client.Client, t target) (client.Reply[memd.Memory], error) {
	if err := t.check(); err != nil {
		return client.Reply[memd.Memory]{}, err
	}
	if t.ID != "" {
		return s.meant(t)(c.Get(ctx, t.ID))
	}
	var named []string
	if t.Namespace != "" {
		named = []string{t.Namespace}
	}
	return reading(ctx, s, c, named, func(names []string) (reply client.Reply[memd.Memory], err error) {
		for _, ns := range names {
			if reply, err = s.meant(t)(c.Head(ctx, ns, t.MemoryKey)); memd.CodeOf(err) != memd.CodeNotFound || err == nil {
				return reply, err
			}
		}
		return reply, err
	})
}

// meant lets a memory through whose access tags the call or the session names, as
// every other read wants it: REST gives one by its name to whoever holds them, and
// a key can be guessed.
func (s *Server) meant(t target) func(client.Reply[memd.Memory], error) (client.Reply[memd.Memory], error) {
	return func(reply client.Reply[memd.Memory], err error) (client.Reply[memd.Memory], error) {
		if !s.names(reply.Value.Access, t.Access) {
			return client.Reply[memd.Memory]{}, memd.Errorf(memd.CodeNotFound, "there is no such memory")
		}
		return reply, err
	}
}

// names reports whether each of a memory's access tags is among those of a call or
// of the session.
func (s *Server) names(tags, given []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool {
		return !slices.Contains(given, tag) && !slices.Contains(s.opts.Access, tag)
	})
}

func get(ctx context.Context, s *Server, in target, room int) (answer, error) {
	c := s.client(ctx)
	reply, err := s.find(ctx, c, in)
	if err == nil && in.ID == "" { // a key is answered without the full wording
		reply, err = c.Get(ctx, reply.Value.ID)
	}
	if err != nil {
		return answer{}, err
	}
	o, err := parse(harmless(s.fence, reply.Raw))
	if err != nil {
		return answer{}, err
	}
	return answer{s.fitted(o, room), single(s.fence, "", &reply.Value, room)}, nil
}

func forget(ctx context.Context, s *Server, in target, _ int) (answer, error) {
	c := s.client(ctx)
	err, given := in.check(), in.Namespace
	switch {
	case err != nil:
	case in.ID != "":
		if _, err = s.find(ctx, c, in); err == nil {
			_, err = c.Forget(ctx, in.ID)
		}
	default:
		in.Namespace = s.home(given)
		if _, err = s.find(ctx, c, in); err == nil {
			_, err = c.ForgetKey(ctx, in.Namespace, in.MemoryKey)
		}
		if e := refusalOf(ctx, err); err != nil && e.Code == memd.CodeNotFound && given == "" {
			err = memd.Errorf(memd.CodeNotFound, "there is no such key where this session writes").WithHint("name its namespace, or its id")
		}
	}
	if err != nil {
		return answer{}, err
	}
	return answer{[]byte(`{"forgotten":true}`), "Forgotten."}, nil
}

func verify(ctx context.Context, s *Server, in struct {
	target
	memd.Verify
}, room int) (answer, error) {
	c := s.client(ctx)
	reply, err := s.find(ctx, c, in.target)
	if err != nil {
		return answer{}, err
	}
	a, err := s.written(c.Verify(ctx, reply.Value.ID, in.Verify))(room)
	if err == nil {
		a.text = strings.Replace(a.text, "Saved: ", "Verified: ", 1)
	}
	return a, err
}

package tiers_test

import (
	"strings"
	"testing"
	"time"

	"memd"
)

// body stands in refused requests; no error may repeat it.
const body = "xyzzybody"

// blanks show nothing.
var blanks = map[string]string{
	"empty": "", "spaces": " \t\r\n", "no-break space": "\u00a0\u3000", "zero width": "\u200b\u200c\u200d\u2060\ufeff",
	"soft hyphen": "\u00ad", "marks alone": "\u0301\ufe0f", "fillers": "\u3164\u115f\uffa0", "blank Braille": "\u2800",
	"bidi controls": "\u202a\u202e", "control": "\x01\x7f", "line separator": "\u2028",
}

type badInput struct {
	name  string
	call  func(*house) error
	code  memd.Code
	field string
}

func badShort(name string, code memd.Code, field string, edit func(*memd.Remember)) badInput {
	return badInput{"remember " + name, func(h *house) error {
		_, err := h.Remember(ctx, ann, shortRequest(body, edit))
		return err
	}, code, field}
}

func badLong(name string, code memd.Code, field string, edit func(*memd.RememberLongTerm)) badInput {
	return badInput{"remember_long_term " + name, func(h *house) error {
		_, err := h.RememberLongTerm(ctx, ann, longRequest("k", body, edit))
		return err
	}, code, field}
}

func badNote(name string, code memd.Code, field, session string, req memd.Note) badInput {
	return badInput{"note " + name, func(h *house) error {
		_, err := h.Note(ctx, ann, session, req)
		return err
	}, code, field}
}

// badTexts are the ways in which any text may be wrong, for a field set by
// set.
func badTexts(field string, max int, bad func(name string, code memd.Code, field string, value string) badInput) []badInput {
	cases := []badInput{
		bad(field+" with NUL", memd.CodeInvalidRequest, field, body+"\x00"),
		bad(field+" of broken UTF-8", memd.CodeInvalidRequest, field, body+"\xff"),
		bad(field+" of a lone surrogate", memd.CodeInvalidRequest, field, body+"\xed\xa0\x80"),
	}
	if max > 0 {
		cases = append(cases,
			bad(field+" too long", memd.CodeTooLarge, field, strings.Repeat("x", max+1)),
			bad(field+" too long in code points", memd.CodeTooLarge, field, strings.Repeat("🚀", max+1)))
	}
	return cases
}

func badInputs() []badInput {
	const invalid, large = memd.CodeInvalidRequest, memd.CodeTooLarge
	var cases []badInput
	add := func(more ...badInput) { cases = append(cases, more...) }
	type text = func(name string, code memd.Code, field string, v string) badInput
	ofShort := func(set func(*memd.Remember, string)) text {
		return func(name string, code memd.Code, field string, v string) badInput {
			return badShort(name, code, field, func(r *memd.Remember) { set(r, v) })
		}
	}
	ofLong := func(set func(*memd.RememberLongTerm, string)) text {
		return func(name string, code memd.Code, field string, v string) badInput {
			return badLong(name, code, field, func(r *memd.RememberLongTerm) { set(r, v) })
		}
	}

	shortSummary := ofShort(func(r *memd.Remember, v string) { r.Summary = v })
	longSummary := ofLong(func(r *memd.RememberLongTerm, v string) { r.Summary = v })
	noteSummary := func(name string, code memd.Code, field string, v string) badInput {
		return badNote(name, code, field, "s", memd.Note{Summary: v})
	}
	for name, v := range blanks {
		add(shortSummary("blank summary: "+name, invalid, "summary", v), longSummary("blank summary: "+name, invalid, "summary", v),
			noteSummary("blank summary: "+name, invalid, "summary", v))
	}
	add(badTexts("summary", 8000, shortSummary)...)
	add(badTexts("summary", 12000, longSummary)...)
	add(badTexts("summary", 4000, noteSummary)...)

	shortRaw := ofShort(func(r *memd.Remember, v string) { r.RawContent = v })
	longRaw := ofLong(func(r *memd.RememberLongTerm, v string) { r.RawContent = v })
	add(badTexts("raw_content", 0, shortRaw)...)
	add(badTexts("raw_content", 0, longRaw)...)
	add(shortRaw("raw of 65537 bytes", large, "raw_content", strings.Repeat("x", 65537)),
		longRaw("raw of 65537 bytes", large, "raw_content", strings.Repeat("x", 65537)),
		shortRaw("raw of 65538 bytes in fewer code points", large, "raw_content", strings.Repeat("字", 21846)))

	add(badTexts("why", 4000, ofLong(func(r *memd.RememberLongTerm, v string) { r.Why = v }))...)
	add(badTexts("how_to_apply", 4000, ofLong(func(r *memd.RememberLongTerm, v string) { r.HowToApply = v }))...)
	owner := ofLong(func(r *memd.RememberLongTerm, v string) { r.Owner = v })
	agent := ofShort(func(r *memd.Remember, v string) { r.Agent = v })
	session := ofShort(func(r *memd.Remember, v string) { r.SessionID = v })
	for field, set := range map[string]text{"owner": owner, "agent": agent, "session_id": session} {
		add(badTexts(field, memd.MaxNameChars, set)...)
		add(set(field+" of two lines", invalid, field, "a\nb"), set(field+" blank", invalid, field, "\u200b"))
	}

	for _, v := range []int{0, 11, -1, 1 << 40} {
		add(badShort("importance", invalid, "importance", func(r *memd.Remember) { r.Importance = &v }),
			badLong("importance", invalid, "importance", func(r *memd.RememberLongTerm) { r.Importance = &v }))
	}
	for _, k := range []memd.Kind{"note", "Fact", "facts", " fact", "\xff"} {
		add(badShort("kind", invalid, "kind", func(r *memd.Remember) { r.Kind = k }),
			badLong("kind", invalid, "kind", func(r *memd.RememberLongTerm) { r.Kind = k }))
	}
	for _, k := range []memd.Kind{memd.Event, memd.Task, memd.Summary} {
		add(badLong("kind "+string(k), invalid, "kind", func(r *memd.RememberLongTerm) { r.Kind = k }))
	}
	for name, c := range map[string]struct {
		tags []string
		code memd.Code
	}{
		"33":            {strings.Split(strings.Repeat("t,", 32)+"t", ","), large},
		"of 65":         {[]string{strings.Repeat("字", 65)}, large},
		"blank":         {[]string{"a", " "}, invalid},
		"empty":         {[]string{""}, invalid},
		"zero width":    {[]string{"\u200b"}, invalid},
		"of two lines":  {[]string{"a\nb"}, invalid},
		"NUL":           {[]string{"a\x00"}, invalid},
		"broken UTF-8":  {[]string{"\xff"}, invalid},
		"half a letter": {[]string{"字"[:2]}, invalid},
	} {
		add(badShort("tags "+name, c.code, "tags", func(r *memd.Remember) { r.Tags = c.tags }),
			badLong("tags "+name, c.code, "tags", func(r *memd.RememberLongTerm) { r.Tags = c.tags }),
			badInput{"remember access " + name, func(h *house) error {
				_, err := h.Remember(ctx, admin, memd.Remember{Summary: body, Access: c.tags})
				return err
			}, c.code, "access"})
	}
	add(badShort("access not held", memd.CodeForbidden, "access", func(r *memd.Remember) { r.Access = []string{"hr"} }),
		badLong("access not held", memd.CodeForbidden, "access", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }))

	for _, ns := range []string{"Default", "a//b", "/a", "a/", "..", "a/../b", ".", "a/.", "a b", "ünï", "*", "a\n", "a:b", strings.Repeat("n", 129), "%2F"} {
		add(badShort("namespace "+ns[:min(len(ns), 9)], invalid, "namespace", func(r *memd.Remember) { r.Namespace = ns }),
			badLong("namespace "+ns[:min(len(ns), 9)], invalid, "namespace", func(r *memd.RememberLongTerm) { r.Namespace = ns }))
	}
	for _, key := range []string{"a b", "é", "a\n", "k:1", "k#1", "k%2F", "*", "k\x00", "钥", strings.Repeat("k", 201), " ", "\u200b"} {
		add(badLong("memory_key "+key[:min(len(key), 9)], invalid, "memory_key", func(r *memd.RememberLongTerm) { r.MemoryKey = key }))
	}
	add(badLong("no memory_key", memd.CodeMissingField, "memory_key", func(r *memd.RememberLongTerm) { r.MemoryKey = "" }),
		badLong("negative base_version", invalid, "base_version", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(-1) }))

	for _, k := range []memd.Kind{memd.Feedback, memd.Project} {
		for name, v := range map[string]string{"none": "", "spaces": "  ", "zero width": "\u200b"} {
			add(badLong(string(k)+" why: "+name, memd.CodeMissingField, "why", func(r *memd.RememberLongTerm) {
				r.Kind, r.Why, r.HowToApply = k, v, "so"
			}), badLong(string(k)+" how_to_apply: "+name, memd.CodeMissingField, "how_to_apply", func(r *memd.RememberLongTerm) {
				r.Kind, r.Why, r.HowToApply = k, "because", v
			}))
		}
	}
	return append(cases, badTimes()...)
}

func badTimes() []badInput {
	const invalid = memd.CodeInvalidRequest
	cases := []badInput{
		{"verified_at ahead", func(h *house) error {
			_, err := h.RememberLongTerm(ctx, ann, longRequest("k", body, func(r *memd.RememberLongTerm) { r.VerifiedAt = h.at(5*time.Minute + time.Millisecond) }))
			return err
		}, invalid, "verified_at"},
		{"expires_at past", func(h *house) error {
			_, err := h.Remember(ctx, ann, shortRequest(body, func(r *memd.Remember) { r.ExpiresAt = h.at(-time.Millisecond) }))
			return err
		}, invalid, "expires_at"},
		{"expires_at now", func(h *house) error {
			_, err := h.Remember(ctx, ann, shortRequest(body, func(r *memd.Remember) { r.ExpiresAt = h.now() }))
			return err
		}, invalid, "expires_at"},
		badNote("to a blank session", invalid, "session_id", "\u200b", memd.Note{Summary: body}),
		badNote("to no session", invalid, "session_id", "", memd.Note{Summary: body}),
		badNote("to a long session", memd.CodeTooLarge, "session_id", strings.Repeat("s", 201), memd.Note{Summary: body}),
	}
	for _, ttl := range []string{"abc", "-1s", "0", "0s", "1us", "24", "24h ", "1d", "720h1s", "9999999h", "NaN", "\x00"} {
		cases = append(cases, badNote("ttl "+ttl, invalid, "ttl", "s", memd.Note{Summary: body, TTL: ttl}))
	}
	return cases
}

// Whatever is wrong is refused with the code and the field at fault, tells
// nothing of the body, and writes nothing.
func TestBadInput(t *testing.T) {
	h := newHouse(t, nil)
	for _, c := range badInputs() {
		err := c.call(h)
		t.Run(c.name, func(t *testing.T) {
			refused(t, err, c.code, c.field)
			if err != nil && strings.Contains(err.Error(), body) {
				t.Errorf("the error repeats the body: %v", err)
			}
		})
	}
	if got := h.rows(); got != "0 0 0 0" {
		t.Errorf("refused writes left rows: %s", got)
	}
}

// The largest of everything is accepted, and comes back as it was given.
func TestLargestInput(t *testing.T) {
	h := newHouse(t, nil)
	tags := make([]string, memd.MaxTags)
	for i := range tags {
		tags[i] = strings.Repeat("字", memd.MaxTagChars-1) + string(rune('A'+i))
	}
	name := strings.Repeat("名", memd.MaxNameChars)
	w := h.remember(strings.Repeat("🚀", 8000), func(r *memd.Remember) {
		r.RawContent, r.Tags, r.Agent, r.SessionID = strings.Repeat("x", 65536), tags, name, name
		r.Namespace, r.ExpiresAt, r.Importance = strings.Repeat("n", memd.MaxNamespaceLen), h.at(time.Millisecond), ptr(10)
	})
	m, _ := h.get(w.ID)
	if m.Summary != strings.Repeat("🚀", 8000) || len(m.RawContent) != 65536 || len(m.Tags) != 32 || m.Agent != name || m.Importance != 10 {
		t.Error("the short row came back otherwise")
	}
	w = h.keep(strings.Repeat("k", memd.MaxKeyLen), strings.Repeat("界", 12000), func(r *memd.RememberLongTerm) {
		r.Why, r.HowToApply, r.Owner, r.Importance = strings.Repeat("因", 4000), strings.Repeat("法", 4000), name, ptr(1)
		r.Source, r.VerifiedAt = "docs/"+strings.Repeat("a", memd.MaxSourceChars-8)+".md", h.at(5*time.Minute)
	})
	if m, _ := h.get(w.ID); m.Why != strings.Repeat("因", 4000) || m.Owner != name || m.VerifiedAt != h.at(5*time.Minute) {
		t.Error("the long row came back otherwise")
	}
	h.must(second(h.Note(ctx, ann, "s", memd.Note{Summary: strings.Repeat("é", 4000), TTL: "720h"})))
	for _, ns := range []string{"project/x", "user", "team/a.b-c_d", "1", "a/b/c/d", "agent/..x"} {
		h.remember("in a good namespace", func(r *memd.Remember) { r.Namespace = ns })
	}
	for _, key := range []string{"a", ".", "..", "a/b.c-d_e", "A", "-", "/"} {
		h.keep(key, "under a good key")
	}
}

func second[T any](_ T, err error) error { return err }

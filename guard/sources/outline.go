package sources

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// heading is a heading of a page.
type heading struct {
	at, stop int // its first byte, from the line's beginning on, and the end of what it says
	end      int // of its section
	level    int // 1 to 6
	name     string
}

// anchor is a place of a page that has a name of its own.
type anchor struct {
	at   int
	name string
	end  int // of the element that has the name, 0 where nobody looked
}

// outline is what of a page can be cited.
type outline struct {
	text     string
	headings []heading
	anchors  []anchor
}

// names are those that an anchor may mean: GitHub puts a prefix before the names
// that authors give.
func names(cited string) []string {
	const prefix = "user-content-"
	return []string{cited, strings.TrimPrefix(cited, prefix), prefix + cited}
}

// find returns the section of the first place that has one of the names.
func (o *outline) find(names []string) (at, end int, ok bool) {
	for _, name := range names {
		if i := slices.IndexFunc(o.headings, func(h heading) bool { return h.name == name }); i >= 0 && name != "" {
			return o.headings[i].at, o.headings[i].end, true
		}
		if i := slices.IndexFunc(o.anchors, func(a anchor) bool { return a.name == name }); i >= 0 {
			at, end = o.around(o.anchors[i])
			return at, end, true
		}
	}
	return 0, 0, false
}

// around is the section of an anchor: the element that has the name; where that
// holds nothing the section of the heading that it stands in or right before;
// else what comes up to the next heading.
func (o *outline) around(a anchor) (at, end int) {
	if a.end > 0 && !blank(o.text[a.at:a.end]) {
		return a.at, a.end
	}
	at = lineStart(o.text, a.at)
	i := slices.IndexFunc(o.headings, func(h heading) bool { return h.stop > a.at })
	switch {
	case i < 0:
		return at, len(o.text)
	case o.headings[i].at <= a.at, blank(o.text[a.at:o.headings[i].at]):
		return min(at, o.headings[i].at), o.headings[i].end
	}
	return at, max(at, o.headings[i].at)
}

// close gives every heading the end of its section: the next heading of the same
// or a higher level, or the end of the text.
func (o *outline) close() {
	for i := range o.headings {
		h := &o.headings[i]
		h.end = len(o.text)
		for _, next := range o.headings[i+1:] {
			if next.level <= h.level {
				h.end = next.at
				break
			}
		}
	}
}

// tag is a tag of HTML.
type tag struct {
	at, after int // its first byte, and the one after it
	name      string
	opens     bool // not an end tag
	ids       []string
}

// level is that of a heading, 0 for another tag.
func (t tag) level() int {
	if len(t.name) == 2 && t.name[0] == 'h' && t.name[1] >= '1' && t.name[1] <= '6' {
		return int(t.name[1] - '0')
	}
	return 0
}

// scan calls yield with every token of HTML and the byte it begins at.
func scan(text string, yield func(z *html.Tokenizer, kind html.TokenType, at, after int)) {
	z := html.NewTokenizer(strings.NewReader(text))
	at := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		after := at + len(z.Raw())
		yield(z, kind, at, after)
		at = after
	}
}

// tagsOf returns the tags of HTML. What has a name is an element with an id, and
// an <a> with a name.
func tagsOf(text string) []tag {
	var all []tag
	scan(text, func(z *html.Tokenizer, kind html.TokenType, at, after int) {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			return
		}
		name, more := z.TagName()
		t := tag{at: at, after: after, name: string(name), opens: kind != html.EndTagToken}
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			if k := string(key); t.opens && len(value) > 0 && (k == "id" || k == "name" && t.name == "a") {
				t.ids = append(t.ids, string(value))
			}
		}
		all = append(all, t)
	})
	return all
}

// blank reports whether HTML shows nothing.
func blank(text string) bool {
	shows := false
	scan(text, func(z *html.Tokenizer, kind html.TokenType, _, _ int) {
		shows = shows || kind == html.TextToken && strings.TrimSpace(string(z.Raw())) != ""
	})
	return !shows
}

// findElement finds the section of an element of a page of HTML by its name.
func findElement(text, cited string) (at, end int, ok bool) {
	o := outline{text: text}
	tags := tagsOf(text)
	closing := closings(tags)
	for i, t := range tags {
		if t.level() > 0 && t.opens {
			o.headings = append(o.headings, heading{at: t.at, stop: max(closing[i], t.after), level: t.level()})
		}
		for _, id := range t.ids {
			a := anchor{at: t.at, name: id}
			if t.level() == 0 && t.name != "a" {
				a.end = closing[i]
			}
			o.anchors = append(o.anchors, a)
		}
	}
	o.close()
	return o.find(names(cited))
}

// closings returns for each tag the byte after its end tag, 0 if it has none.
func closings(tags []tag) []int {
	ends := make([]int, len(tags))
	open := map[string][]int{}
	for i, t := range tags {
		stack := open[t.name]
		if t.opens {
			open[t.name] = append(stack, i)
		} else if last := len(stack) - 1; last >= 0 {
			ends[stack[last]], open[t.name] = t.after, stack[:last]
		}
	}
	return ends
}

// shown is the text that HTML shows.
func shown(text string) string {
	var b strings.Builder
	scan(text, func(z *html.Tokenizer, kind html.TokenType, _, _ int) {
		if kind == html.TextToken {
			b.Write(z.Text())
		}
	})
	return b.String()
}

package sources

// Heading is a heading of Markdown as sources cite it.
type Heading struct {
	Anchor string // what stands behind the # of a source; "" where nothing can cite it
	Level  int    // 1 to 6
	At     int    // the first byte of its line
	Stop   int    // the end of what the heading itself says
	End    int    // of its section
}

// Headings are those of Markdown, in their order, with the anchors by which sources
// are looked up. The text is as [Plain] makes it.
func Headings(text string) []Heading {
	o := outlineOf(text)
	all := make([]Heading, len(o.headings))
	for i, h := range o.headings {
		all[i] = Heading{Anchor: h.name, Level: h.level, At: h.at, Stop: h.stop, End: h.end}
	}
	return all
}

// Plain is a text as sources are looked up in it: with line ends of one form and
// without a byte order mark. Places in it are those of Headings.
func Plain(data []byte) string { return plain(data) }

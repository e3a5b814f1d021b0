package artefacts

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"memd"
)

// Item is one thing that an artefact says, as it is to be remembered.
type Item struct {
	Form   Form
	File   string // as it was given to Read
	Anchor string // of the section, "" for none
	Line   int    // in the file, from 1 on
	Last   int    // the last line of it

	Kind       memd.Kind
	Summary    string
	RawContent string // the whole, where the summary is its beginning
	Why        string
	HowToApply string

	before string // what of the summary stands for the headings
}

// says is the summary without what stands for the headings.
func (it *Item) says() string { return strings.TrimPrefix(it.Summary, it.before) }

// digest is what tells whether an item, which rests on source, is as it was.
func (it *Item) digest(source string) string {
	h := sha256.New()
	for _, text := range []string{string(it.Kind), source, it.Summary, it.RawContent, it.Why, it.HowToApply} {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Limits bound what is made of a file, in the store's measures.
type Limits struct {
	Summary int // code points
	Raw     int // bytes
}

// Bounds of a summary of what is too long for one, and of what stands before an
// item, in code points.
const (
	maxOpening = 800
	maxHeading = 80
	maxBefore  = 240
)

// word puts what is said behind the headings that it stands under. What is too long
// is told by its beginning, and whole, or as far as that goes, in the raw content.
func (it *Item) word(before, said string, l Limits) {
	it.before = before
	it.Summary = before + said
	if utf8.RuneCountInString(it.Summary) <= l.Summary {
		return
	}
	opening, _, _ := strings.Cut(said, "\n\n")
	it.Summary = before + cut(opening, min(maxOpening, max(l.Summary-utf8.RuneCountInString(before)-1, 1)))
	it.RawContent = fit(said, l.Raw)
}

// cut is text of at most n code points, at the end of a sentence or a word if there is
// one, with … where more follows.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	kept := string([]rune(text)[:max(n-1, 0)])
	for _, marks := range []string{".。!！?？;；\n", " ，,、"} {
		if at := strings.LastIndexAny(kept, marks); at >= len(kept)/2 {
			_, size := utf8.DecodeRuneInString(kept[at:])
			kept = kept[:at+size]
			break
		}
	}
	return strings.TrimRight(kept, " \n") + "…"
}

// fit is as many whole lines of text as fit into n bytes.
func fit(text string, n int) string {
	if len(text) <= n {
		return text
	}
	kept := strings.ToValidUTF8(text[:n], "")
	if at := strings.LastIndexByte(kept, '\n'); at > 0 {
		kept = kept[:at]
	}
	return kept
}

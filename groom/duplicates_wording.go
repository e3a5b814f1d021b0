package groom

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"memd/store/terms"
)

// wording is what a statement says, whatever its wording.
type wording struct {
	words       []int  // numbers of its content words in the lexicon, sorted; denied ones are words of their own
	exact       string // its numbers, identifiers and words such as "off": where these differ, so do the statements
	must, never bool   // whether it commands something, and whether it forbids something
}

// lexicon takes statements apart and numbers their words. A word counts by its
// stem, as the index has it; stop words, modal words and verbs that say little
// count not at all. What a negation reaches is another word than the same without
// it, and so is what follows "before", "from" and the like: neither a rule and its
// opposite nor "a before b" and "b before a" have the same words.
type lexicon struct {
	numbers  map[string]int
	denied   []bool              // by word
	weights  []int               // by word: see weightOf
	opposite []int               // by word: the same denied, or not denied; -1 while there is none
	met      map[string][]string // by surface form: its terms, none for a stop word
}

func newLexicon() *lexicon { return &lexicon{numbers: map[string]int{}, met: map[string][]string{}} }

// deniedMark begins the key of a denied word.
const deniedMark = "!"

// number returns the number of a word, which key names.
func (l *lexicon) number(key string) int {
	n, met := l.numbers[key]
	if met {
		return n
	}
	n = len(l.opposite)
	l.numbers[key] = n
	other, denied := strings.CutPrefix(key, deniedMark)
	if !denied {
		other = deniedMark + key
	}
	l.denied, l.opposite, l.weights = append(l.denied, denied), append(l.opposite, -1), append(l.weights, weightOf(key))
	if other, met := l.numbers[other]; met {
		l.opposite[n], l.opposite[other] = other, n
	}
	return n
}

// weightOf is how much of a word a term stands for: 2 for a word, 1 for a character
// of an unspaced script, of which words mostly have two, and 0 for a pair of
// neighbours, which says in what order they stand.
func weightOf(key string) int {
	term := []rune(key[strings.LastIndexAny(key, "!:")+1:])
	switch {
	case len(term) == 0 || len(term) > 2 || !unspaced(term[0]):
		return 2
	case len(term) == 2:
		return 0
	}
	return 1
}

// terms are the index terms of a word, or of a run of an unspaced script: its
// characters and pairs of neighbours.
func (l *lexicon) terms(surface string) []string {
	found, met := l.met[surface]
	if met {
		return found
	}
	for _, t := range terms.Query(surface, utf8.RuneCountInString(surface)*2) {
		if !t.Stop && !t.Part {
			found = append(found, t.Text)
		}
	}
	l.met[surface] = found
	return found
}

// read takes a statement apart.
func (l *lexicon) read(text string) wording {
	r := reader{lexicon: l}
	r.scan(norm.NFKC.String(text))
	r.end()
	words := make([]int, len(r.words))
	for i, key := range r.words {
		words[i] = l.number(key)
	}
	slices.Sort(words)
	slices.Sort(r.exact)
	return wording{
		words: slices.Compact(words), exact: strings.Join(slices.Compact(r.exact), " "),
		must: r.must, never: r.never,
	}
}

// reader is one reading of a statement.
type reader struct {
	*lexicon
	words       []string // keys
	exact       []string
	must, never bool

	last     string // the last word, folded
	clause   int    // where in words the clause under way begins
	denied   bool   // whether a negation reaches what follows
	deniedAt int    // how many words there were before it
	comma    bool   // whether the last word ended in a comma
	relation string // what the next content word is related by, "" for nothing
}

// scan hands over the words of a text in NFKC, and where sentences and clauses
// end.
func (r *reader) scan(text string) {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		if n := runLen(text[i:], unspaced); n > 0 {
			r.run(text[i : i+n])
			i += n
			continue
		}
		if n := wordLen(text[i:]); n > 0 {
			r.word(text[i : i+n])
			i += n
			continue
		}
		switch c {
		case '.', '!', '?', ';', '\n', '。':
			r.end()
		case ',', ':', '(', ')', '、', '—', '–':
			r.pause()
		}
		i += size
	}
}

// runLen is the length of the run of characters at the start of text.
func runLen(text string, of func(rune) bool) int {
	if n := strings.IndexFunc(text, func(c rune) bool { return !of(c) }); n >= 0 {
		return n
	}
	return len(text)
}

// unspaced reports whether a character is of a script written without spaces.
func unspaced(c rune) bool {
	return c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func letter(c rune) bool { return (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unspaced(c) }

// wordLen is the length of the word or identifier at the start of text, 0 for
// none: letters and digits with single joints between them, as in test-all,
// pkg/x.go and don't, and leading dashes, as in --force.
func wordLen(text string) int {
	n := runLen(text, func(c rune) bool { return c == '-' })
	if n > 2 {
		return 0
	}
	first := runLen(text[n:], letter)
	if first == 0 {
		return 0
	}
	n += first
	for n < len(text) {
		_, joint := utf8.DecodeRuneInString(text[n:])
		more := 0
		if strings.ContainsAny(text[n:n+joint], "._-/:#@+'’") {
			more = runLen(text[n+joint:], letter)
		}
		if more == 0 {
			break
		}
		n += joint + more
	}
	return n
}

// word takes one word.
func (r *reader) word(surface string) {
	folded := strings.ReplaceAll(terms.Fold(surface), "’", "'")
	role, known := roles[folded]
	switch digit := strings.IndexFunc(folded, unicode.IsDigit); {
	case known:
		r.take(folded, role)
	case strings.HasSuffix(folded, "n't"):
		r.take(folded, wordDenies)
	case digit == 0: // 120ms is 120 ms
		unit := runLen(folded, func(c rune) bool { return !unicode.IsLetter(c) })
		r.strict(folded[:unit])
		if unit < len(folded) {
			r.take(folded[unit:], wordSays)
		}
	case digit > 0, strings.ContainsAny(folded, "._-/:#@+"), humped(surface):
		r.strict(folded)
	default:
		stem, _, _ := strings.Cut(folded, "'")
		r.take(stem, wordSays)
	}
}

// humped reports whether a word is written like camelCase.
func humped(s string) bool {
	small := false
	for _, c := range s {
		if small && unicode.IsUpper(c) {
			return true
		}
		small = unicode.IsLower(c)
	}
	return false
}

// strict takes a word that no other can stand for.
func (r *reader) strict(folded string) {
	r.exact = append(r.exact, folded)
	r.add(folded)
}

// longestRole is the length of the longest word of roles in an unspaced script,
// in characters.
const longestRole = 3

// run takes a run of an unspaced script apart at the words that have a role.
func (r *reader) run(text string) {
	chars := []rune(text)
	from := 0
	for i := 0; i < len(chars); {
		n := min(longestRole, len(chars)-i)
		for ; n > 0; n-- {
			if _, known := roles[string(chars[i:i+n])]; known {
				break
			}
		}
		if n == 0 {
			i++
			continue
		}
		if from < i {
			r.take(string(chars[from:i]), wordSays)
		}
		r.take(string(chars[i:i+n]), roles[string(chars[i:i+n])])
		i += n
		from = i
	}
	if from < len(chars) {
		r.take(string(chars[from:]), wordSays)
	}
}

// take takes a word by its role.
func (r *reader) take(word string, as role) {
	if r.comma && (as == wordCommands || as == wordTurns) || as == wordOpposes {
		r.end()
	}
	last := r.last
	r.last, r.comma = word, false
	switch as {
	case wordSays:
		relation := r.relation
		for _, term := range r.terms(word) {
			r.relation = relation
			r.add(term)
		}
	case wordDecides:
		r.strict(word)
	case wordCommands:
		r.must = true
	case wordDenies:
		r.never = true
		if last == "and" || last == "or" {
			r.clause = len(r.words)
		}
		if !contrasts(word, last) {
			r.deny(r.clause)
		}
		r.denied, r.deniedAt = true, len(r.words)
	case wordRelates:
		r.relation = word + ":"
	}
}

// contrasts reports whether a negation is about what follows alone, as in "tabs
// not spaces", and not about the whole clause, as in "files are not edited".
func contrasts(word, last string) bool {
	return word == "而不是" || word == "no" || word == "not" && !strings.Contains(auxiliaries, " "+last+" ")
}

// auxiliaries are the words after which "not" is about the clause.
const auxiliaries = " do does did is are was were be been must should shall may might can could will would has have had need ought "

// add adds a content word.
func (r *reader) add(term string) {
	key := r.relation + term
	if r.denied {
		key = deniedMark + key
	}
	r.words = append(r.words, key)
	r.comma, r.relation = false, ""
}

// pause ends a clause: a negation still reaches what is listed after it.
func (r *reader) pause() {
	r.comma = true
	if !r.denied {
		r.clause = len(r.words)
	}
}

// end ends what a negation reaches. One that nothing followed, as in "is not
// allowed", was about what stood before it.
func (r *reader) end() {
	if r.denied && r.deniedAt == len(r.words) {
		r.deny(r.clause)
	}
	r.denied, r.comma, r.clause, r.relation = false, false, len(r.words), ""
}

// deny has the words from the given one on denied.
func (r *reader) deny(from int) {
	for i, key := range r.words[from:] {
		if !strings.HasPrefix(key, deniedMark) {
			r.words[from+i] = deniedMark + key
		}
	}
}

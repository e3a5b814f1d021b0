package static

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxLine is the most bytes of a line of text: 4096 numbers of 60 characters.
const maxLine = 256 << 10

// progressLines is how many lines, or rows, go by between two calls of Progress.
const progressLines = 2048

var errLongLine = errors.New("longer than 256 KiB")

// lines reads a text line by line.
type lines struct {
	in   *bufio.Reader
	n    int   // number of the last line, from 1
	read int64 // bytes so far
	buf  []byte
}

// next returns the next line without its end, valid until the next call, and
// io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	l.n++
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.read += int64(len(part))
		if len(l.buf)+len(part) > maxLine {
			return nil, errLongLine
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(l.buf) > 0:
			return bytes.TrimRight(l.buf, " \t\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// textFile reads vectors from a file of text.
func (c *conversion) textFile(size int64) error {
	f, err := os.Open(c.from)
	if err != nil {
		return err
	}
	defer f.Close()
	t := textReader{conversion: c, lines: lines{in: bufio.NewReaderSize(f, 1<<16)}}
	for t.rank < c.Words {
		line, err := t.lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, errLongLine) {
			return c.refuse(c.from, t.lines.n, "%v", err)
		}
		if err != nil {
			return err
		}
		if t.lines.n%progressLines == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			c.Progress(t.lines.read, size)
		}
		if err := t.take(line); err != nil {
			return err
		}
	}
	if err := t.check(); err != nil {
		return err
	}
	c.Progress(size, size)
	return c.weigh(t.ranks, t.rank)
}

// textReader makes words of lines.
type textReader struct {
	*conversion
	lines  lines
	v      []float32
	folded []byte
	rank   int      // lines with a word so far
	ranks  []uint32 // of the words kept, from 0
	stated int      // words that the first line promises, 0 if it is a word's
}

// take takes one line.
func (t *textReader) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if t.w == nil {
		stated, dim, ok := firstLine(line)
		if err := t.start(t.from, t.lines.n, dim); err != nil {
			return err
		}
		t.v, t.stated = make([]float32, dim), stated
		if ok {
			return nil
		}
	}
	text, err := splitLine(line, t.v)
	if err != nil {
		return t.refuse(t.from, t.lines.n, "%v", err)
	}
	t.rank++
	t.folded = foldTableWord(t.folded[:0], text)
	if len(t.folded) == 0 || t.w.has(t.folded) || length(t.v) == 0 {
		t.skipped++
		return nil
	}
	row, scale, err := t.w.row(t.v)
	if err != nil {
		return err
	}
	t.w.add(t.folded, row, scale, 0)
	t.ranks = append(t.ranks, uint32(t.rank-1))
	if r, _ := utf8.DecodeRune(t.folded); classOf(r) == unspaced {
		t.header.longest = max(t.header.longest, uint8(utf8.RuneCount(t.folded)))
	}
	return nil
}

// check looks at the whole, after the last line.
func (t *textReader) check() error {
	switch {
	case t.w == nil || len(t.w.words) == 0:
		return t.refuse(t.from, 0, "no words with vectors")
	case t.stated > 0 && t.rank < min(t.stated, t.Words):
		return t.refuse(t.from, 1, "promises %d words, and there are %d: the file is cut short", t.stated, t.rank)
	}
	return nil
}

// firstLine tells the length of the vectors by the first line, and how many
// words there are if it is no word's (ok).
func firstLine(line []byte) (words, dim int, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) == 2 {
		words, err1 := strconv.Atoi(string(fields[0]))
		dim, err2 := strconv.Atoi(string(fields[1]))
		if err1 == nil && err2 == nil && words > 0 {
			return words, dim, true
		}
	}
	return 0, len(fields) - 1, false
}

var (
	errFewNumbers = errors.New("fewer numbers than the first line has, or no word before them")
	errNoNumber   = errors.New("not a finite number where one is due")
)

// splitLine fills v with the last numbers of line and returns the word before
// them, which may hold spaces itself.
func splitLine(line []byte, v []float32) (word []byte, err error) {
	for i := len(v) - 1; i >= 0; i-- {
		space := bytes.LastIndexAny(line, " \t")
		if space <= 0 {
			return nil, errFewNumbers
		}
		x, err := strconv.ParseFloat(string(line[space+1:]), 32)
		if err != nil || !finite(float32(x)) {
			return nil, errNoNumber
		}
		v[i] = float32(x)
		line = bytes.TrimRight(line[:space], " \t")
	}
	if len(line) == 0 {
		return nil, errFewNumbers
	}
	return line, nil
}

// foldTableWord appends the form under which texts find a word, nothing for
// one that no text does: of punctuation, of more than maxWord bytes, or of
// letters and other things mixed.
func foldTableWord(dst, word []byte) []byte {
	if len(word) > 2*maxWord || !utf8.Valid(word) {
		return dst
	}
	folded := fold(dst, string(bytes.TrimRight(word, ".")))
	if len(folded) > maxWord || !found(string(folded[len(dst):])) {
		return dst
	}
	return folded
}

// found reports whether a text of the word alone is cut to the whole word.
func found(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	switch classOf(r) {
	case letter:
		return wordEnd(word, size) == len(word)
	case unspaced:
		chars := 0
		for _, r := range word {
			if classOf(r) != unspaced && !unicode.Is(unicode.M, r) {
				return false
			}
			chars++
		}
		return chars <= maxRun
	case symbol:
		return size == len(word)
	}
	return false
}

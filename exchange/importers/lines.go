package importers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxEntry bounds the bytes of one entry of a foreign file: a line, or an element of a
// list. What is longer is no text that anybody wrote.
const MaxEntry = 8 << 20

// ErrLong says that an entry is longer than MaxEntry.
var ErrLong = errors.New("longer than memd reads one entry")

// Lines reads a file line by line, in bounded memory.
type Lines struct {
	from *bufio.Reader
	n    int
	text []byte
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{from: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without what ends it, and its number. The text holds until
// the next call. Of a line that is too long it returns ErrLong, and stands behind it;
// at the end io.EOF.
func (l *Lines) Next() (text []byte, n int, err error) {
	l.text = l.text[:0]
	long, any := false, false
	for {
		part, err := l.from.ReadSlice('\n')
		any = any || len(part) > 0
		if long = long || len(l.text)+len(part) > MaxEntry; !long {
			l.text = append(l.text, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err == io.EOF && any {
			err = nil
		}
		if err != nil {
			return nil, l.n, err
		}
		break
	}
	l.n++
	if long {
		l.text = nil
		return nil, l.n, ErrLong
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
	if l.n == 1 {
		text = Unmarked(text)
	}
	return text, l.n, nil
}

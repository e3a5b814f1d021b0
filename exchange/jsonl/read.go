package jsonl

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"memd"
)

// Line is one line of a file, of whoever wrote it.
type Line struct {
	Number int    // from 1
	Text   []byte // without its end; it holds until the next line is read. Of one that is too long the beginning
	Bytes  int    // that were read so far, of the whole input

	// Wrong is why the line is none: then it is to be told, and the next may be read.
	Wrong *memd.Error
}

// Reader reads the lines of a file that hold records, and remembers what header and
// trailer say of the whole.
type Reader struct {
	in   *bufio.Reader
	text []byte
	long bool

	number, bytes int

	Header *Header // the last that was read; nil: there was none

	open  bool // whether a header awaits its trailer
	lines int  // since the header
	sum   hash.Hash

	faults []string
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New()}
}

// Next returns the next line that is no header, trailer or blank; io.EOF after the last.
// Any other error ends the reading: the input cannot be read, or its form is of a newer
// version, of which nobody here knows what its lines mean.
func (r *Reader) Next() (Line, error) {
	for {
		err := r.read()
		if err != nil {
			if err == io.EOF {
				r.end()
			}
			return Line{}, err
		}
		if r.number == 1 {
			r.text = bytes.TrimPrefix(r.text, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(r.text)) == 0 && !r.long {
			continue
		}
		line := Line{Number: r.number, Text: r.text, Bytes: r.bytes}
		var kind string
		if kind, line.Wrong = r.look(); line.Wrong == nil {
			if kind == headerType {
				if err := r.header(); err != nil {
					return line, err
				}
				continue
			}
			if kind == trailerType && r.trailer() {
				continue
			}
		}
		r.lines++
		r.sum.Write(r.text) // never fails
		r.sum.Write([]byte{'\n'})
		return line, nil
	}
}

// read reads a line, of which it keeps MaxLine bytes. A carriage return before its end
// is none of it.
func (r *Reader) read() error {
	r.text, r.long = r.text[:0], false
	for {
		part, err := r.in.ReadSlice('\n')
		r.bytes += len(part)
		if room := MaxLine + 2 - len(r.text); len(part) > room {
			part, r.long = part[:room], true
		}
		r.text = append(r.text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF && len(r.text) > 0 {
			err = nil
		}
		if err != nil {
			return err
		}
		break
	}
	r.number++
	r.text = bytes.TrimSuffix(bytes.TrimSuffix(r.text, []byte("\n")), []byte("\r"))
	if len(r.text) > MaxLine {
		r.text, r.long = r.text[:MaxLine], true
	}
	return nil
}

// look returns the type that a line states, or why it is no line of the form.
func (r *Reader) look() (kind string, wrong *memd.Error) {
	bad := func(format string, args ...any) (string, *memd.Error) {
		return "", memd.Errorf(memd.CodeInvalidRequest, format, args...)
	}
	switch {
	case r.long:
		return "", memd.Errorf(memd.CodeTooLarge, "the line has more than %d bytes", MaxLine)
	case !utf8.Valid(r.text):
		return bad("the line is not valid UTF-8")
	case bytes.IndexByte(r.text, 0) >= 0:
		return bad("the line holds a NUL character")
	case bytes.TrimLeft(r.text, " \t")[0] != '{':
		return bad("the line is no JSON object")
	}
	var of struct {
		Type json.RawMessage `json:"type"`
	}
	if err := json.Unmarshal(r.text, &of); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return bad("the line is no JSON object: see byte %d", syntax.Offset)
		}
		return bad("the line is no JSON object")
	}
	_ = json.Unmarshal(of.Type, &kind) // one that is no text names no type
	return kind, nil
}

// header takes in the first line of a file. Where files were put behind each other,
// each has its own.
func (r *Reader) header() error {
	r.end()
	var h Header
	err := json.Unmarshal(r.text, &h)
	switch {
	case h.Format != "" && h.Format != Format, h.Format == "" && err == nil:
		return memd.Errorf(memd.CodeInvalidRequest, "line %d says that the file is of another form than %s", r.number, Format)
	case h.Version > Version:
		return memd.Errorf(memd.CodeInvalidRequest, "the file is of version %d of its form, and this memd reads version %d", h.Version, Version).
			WithHint("import it with the memd that wrote it, or a newer one")
	case err != nil || h.Version < 1:
		return memd.Errorf(memd.CodeInvalidRequest, "line %d cannot be read as the header of a file", r.number)
	}
	r.Header, r.open, r.lines = &h, true, 0
	r.sum.Reset()
	return nil
}

// trailer takes in the last line of a file, and reports whether it is one: none ends a
// file that no header began.
func (r *Reader) trailer() bool {
	var t Trailer
	if !r.open || json.Unmarshal(r.text, &t) != nil {
		return false
	}
	r.open = false
	switch {
	case t.Lines > r.lines:
		r.fault("%d of its %d lines are missing", t.Lines-r.lines, t.Lines)
	case t.Lines < r.lines:
		r.fault("it has %d lines more than when it was written", r.lines-t.Lines)
	case t.SHA256 != hex.EncodeToString(r.sum.Sum(nil)):
		r.fault("its lines were changed after it was written")
	}
	return true
}

// end notices a file that was cut short, also to nothing.
func (r *Reader) end() {
	if r.number == 0 {
		r.fault("it is empty")
	}
	if r.open {
		r.open = false
		r.fault("it is cut short: its last line is missing, and perhaps others before it")
	}
}

func (r *Reader) fault(format string, args ...any) {
	if r.faults = append(r.faults, fmt.Sprintf(format, args...)); len(r.faults) > maxFaults {
		r.faults = r.faults[:maxFaults]
	}
}

// maxFaults bounds what is told of files put behind each other.
const maxFaults = 20

// Faults are what is wrong with the input as a whole, known once it was read to its end.
func (r *Reader) Faults() []string { return r.faults }

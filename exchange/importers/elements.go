package importers

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
)

// Element is a part of a JSON document: an element of one of its lists, or another
// value that is no list and no object.
type Element struct {
	Name string // of the member that it is of, "" in a document that is a list
	Line int    // at which it begins
	Raw  json.RawMessage
}

// maxDeep bounds how deeply what is passed over may be nested.
const maxDeep = 1000

// ErrForm says that a document is of another form, or nested too deeply.
var ErrForm = errors.New("no JSON document that memd reads")

// Elements reads a JSON document that is a list, or an object with lists of the given
// names, in bounded memory: it yields the elements of these, and the object's plain
// values. Other members are passed over. An error ends it: behind one there is no
// telling where the next element begins.
func Elements(r io.Reader, names ...string) iter.Seq2[Element, error] {
	return func(yield func(Element, error) bool) {
		d := newDocument(r)
		if err := d.read(names, func(e Element) bool { return yield(e, nil) }); err != nil {
			yield(Element{Line: d.line()}, err)
		}
	}
}

// document is a decoder that knows its line, and how much it may still read.
type document struct {
	*json.Decoder
	from   *bufio.Reader
	left   int     // bytes that may be read until the next element ends
	at     int64   // bytes read
	breaks []int64 // line ends that were read and lie behind the decoder's place
	lines  int     // line ends before it
}

func newDocument(r io.Reader) *document {
	d := &document{from: bufio.NewReaderSize(r, 64<<10), left: MaxEntry}
	if mark, err := d.from.Peek(len(bom)); err == nil && string(mark) == string(bom) {
		_, _ = d.from.Discard(len(bom)) // they were peeked at
	}
	d.Decoder = json.NewDecoder(d)
	d.UseNumber() // not every number of JSON is one of ours
	return d
}

// Read is what the decoder reads by.
func (d *document) Read(p []byte) (int, error) {
	if d.left <= 0 {
		return 0, ErrLong
	}
	n, err := d.from.Read(p[:min(len(p), d.left)])
	for i, c := range p[:n] {
		if c == '\n' {
			d.breaks = append(d.breaks, d.at+int64(i))
		}
	}
	d.at += int64(n)
	d.left -= n
	return n, err
}

// line is the line at which the decoder stands.
func (d *document) line() int {
	n := 0
	for n < len(d.breaks) && d.breaks[n] < d.InputOffset() {
		n++
	}
	d.breaks = d.breaks[n:]
	d.lines += n
	return d.lines + 1
}

func (d *document) read(names []string, yield func(Element) bool) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	goOn := true
	switch open {
	case json.Delim('['):
		goOn, err = d.list("", yield)
	case json.Delim('{'):
		goOn, err = d.object(names, yield)
	default:
		err = ErrForm
	}
	if err != nil || !goOn {
		return err
	}
	d.left = MaxEntry
	if _, err = d.Token(); err == io.EOF {
		return nil
	}
	return cmp.Or(err, ErrForm) // something stands behind it
}

// object yields what an object has that was opened. It reports whether to go on.
func (d *document) object(names []string, yield func(Element) bool) (bool, error) {
	for d.More() {
		d.left = MaxEntry
		key, err := d.Token()
		if err != nil {
			return false, err
		}
		name, _ := key.(string)
		value, err := d.Token()
		if err != nil {
			return false, err
		}
		delim, nested := value.(json.Delim)
		goOn := true
		switch {
		case delim == '[' && slices.Contains(names, name):
			goOn, err = d.list(name, yield)
		case nested:
			err = d.pass()
		case slices.Contains(names, name):
			if value != nil { // null is a list of nothing
				err = ErrForm
			}
		default:
			raw, _ := json.Marshal(value) // a token always encodes
			goOn = yield(Element{name, d.line(), raw})
		}
		if err != nil || !goOn {
			return false, err
		}
	}
	_, err := d.Token()
	return true, err
}

// list yields the elements of a list that was opened. It reports whether to go on.
func (d *document) list(name string, yield func(Element) bool) (bool, error) {
	for d.More() {
		d.left = MaxEntry
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return false, err
		}
		if !yield(Element{name, d.line() - bytes.Count(raw, []byte("\n")), raw}) {
			return false, nil
		}
	}
	_, err := d.Token()
	return true, err
}

// pass goes over a list or an object that was opened.
func (d *document) pass() error {
	for deep := 1; deep > 0; {
		d.left = MaxEntry
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			deep++
		case json.Delim(']'), json.Delim('}'):
			deep--
		}
		if deep > maxDeep {
			return ErrForm
		}
		d.line() // lets go of what lies behind
	}
	return nil
}

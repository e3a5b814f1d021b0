package jsonl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"

	"memd"
)

// Writer writes a file of lines. Make one with NewWriter, and Close it.
type Writer struct {
	w     io.Writer
	line  bytes.Buffer
	enc   *json.Encoder
	lines int
	sum   hash.Hash
}

// NewWriter begins a file with h, of which it sets what the form fixes.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	out := &Writer{w: w, sum: sha256.New()}
	out.enc = json.NewEncoder(&out.line)
	out.enc.SetEscapeHTML(false) // a line is read by people too, and by no browser
	h.Type, h.Format, h.Version = headerType, Format, Version
	return out, out.put(h)
}

// put writes one line.
func (w *Writer) put(v any) error {
	w.line.Reset()
	if err := w.enc.Encode(v); err != nil {
		return err
	}
	_, err := w.w.Write(w.line.Bytes())
	return err
}

// Write writes one record.
func (w *Writer) Write(rec *memd.Record) error {
	if err := w.put(rec); err != nil {
		return err
	}
	w.lines++
	w.sum.Write(w.line.Bytes()) // never fails
	return nil
}

// Lines is how many records were written.
func (w *Writer) Lines() int { return w.lines }

// Close ends the file. Without it, whoever reads the file takes it for cut short.
func (w *Writer) Close() error {
	return w.put(Trailer{Type: trailerType, Lines: w.lines, SHA256: hex.EncodeToString(w.sum.Sum(nil))})
}

package jsonl

import (
	"bytes"
	"encoding/json"
	"io"

	"memd"
)

// Follower is a writer that hands on a file of lines, and sees whether it is whole.
type Follower struct {
	w        io.Writer
	progress func(lines, rows int)

	last   []byte // the line that is not ended yet, or the last; cut to maxKept
	ended  bool
	lines  int
	bytes  int64
	header Header
}

// maxKept is how much of a line is kept: a header or a trailer has less.
const maxKept = 64 << 10

// NewFollower hands on to w. progress is told now and then how many lines came, of about
// how many; nil for nobody.
func NewFollower(w io.Writer, progress func(lines, rows int)) *Follower {
	return &Follower{w: w, progress: progress}
}

func (f *Follower) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	f.bytes += int64(n)
	for rest := b[:n]; len(rest) > 0; {
		if f.ended {
			f.last, f.ended = f.last[:0], false
		}
		line, after, ends := bytes.Cut(rest, []byte{'\n'})
		f.last = append(f.last, line[:min(len(line), maxKept-len(f.last))]...)
		if rest = after; ends {
			f.end()
		}
	}
	return n, err
}

func (f *Follower) end() {
	f.ended = true
	if f.lines++; f.lines == 1 {
		_ = json.Unmarshal(f.last, &f.header) // what is none is told of by Whole
	}
	if f.progress != nil && f.lines%progressAt == 0 {
		rows := 0
		for _, t := range memd.AllTiers() {
			rows += f.header.Rows[t]
		}
		f.progress(f.lines, rows)
	}
}

// Whole reports whether the last line is a trailer that counts the others.
func (f *Follower) Whole() bool {
	var t Trailer
	return f.ended && json.Unmarshal(f.last, &t) == nil && t.Type == trailerType && t.Lines == f.Lines()
}

// Lines is how many lines came between header and trailer.
func (f *Follower) Lines() int { return max(0, f.lines-2) }

// Bytes is how much came.
func (f *Follower) Bytes() int64 { return f.bytes }

// Header is the first line.
func (f *Follower) Header() Header { return f.header }

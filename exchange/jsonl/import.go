package jsonl

import (
	"context"
	"io"
	"slices"

	"memd"
)

// Options of an import.
type Options struct {
	Dry      bool            // say what would be done, and write nothing
	Rejects  io.Writer       // takes the lines that did not get in, to be mended; nil for nowhere
	Progress func(lines int) // is told now and then how many were answered; nil for nobody
}

// Parked is a line that did not get in, by its number, without anything of its text.
type Parked struct {
	Line    int          `json:"line"`
	Outcome memd.Outcome `json:"outcome"`
	ID      string       `json:"id,omitempty"`
	Code    memd.Code    `json:"code,omitempty"`
	Field   string       `json:"field,omitempty"`
	Reason  string       `json:"reason"`
	Hint    string       `json:"hint,omitempty"`
}

// Report is what became of the lines of a file.
type Report struct {
	Lines    int                  `json:"lines"`  // that were to be taken in
	Whole    bool                 `json:"whole"`  // whether the file came as it was written; true where that cannot be told
	Faults   []string             `json:"faults"` // why it did not
	Outcomes map[memd.Outcome]int `json:"outcomes"`
	Parked   []Parked             `json:"parked"`
	Warned   int                  `json:"warned"` // lines of which a guard took something out, or warned
	Bytes    int                  `json:"bytes"`
}

// Failed reports whether anything did not get in that should have.
func (r *Report) Failed() bool { return len(r.Parked) > 0 || !r.Whole }

func newReport() Report {
	r := Report{Whole: true, Faults: []string{}, Outcomes: map[memd.Outcome]int{}, Parked: []Parked{}}
	for _, o := range memd.Outcomes() {
		r.Outcomes[o] = 0
	}
	return r
}

// Import takes the lines of in into a store. An error ends it: what was reported until
// then stands. The lines of a file that was cut short get in, and the report says so.
func Import(ctx context.Context, store Store, in io.Reader, opts Options) (Report, error) {
	im := &importing{opts: opts, report: newReport()}
	send := NewSender(store, opts.Dry, im.done)
	r := NewReader(in)
	err := im.lines(ctx, r, send)
	if err == nil {
		err = send.Flush(ctx)
	}
	im.report.Faults = append(im.report.Faults, r.Faults()...)
	slices.SortStableFunc(im.report.Parked, func(a, b Parked) int { return a.Line - b.Line })
	im.report.Whole = len(im.report.Faults) == 0
	return im.report, err
}

// progressAt is after how many lines progress is told of.
const progressAt = 500

type importing struct {
	opts     Options
	report   Report
	answered int
}

func (im *importing) lines(ctx context.Context, r *Reader, send *Sender) error {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		im.report.Lines++
		im.report.Bytes = line.Bytes
		if line.Wrong != nil {
			out := memd.Imported{Outcome: memd.Refused, Code: line.Wrong.Code, Reason: line.Wrong.Message, Hint: line.Wrong.Hint}
			if err := im.done(line.Number, line.Text, out); err != nil {
				return err
			}
			continue
		}
		if err := send.Add(ctx, line.Number, line.Text); err != nil {
			return err
		}
	}
}

// done counts what became of a line, and parks one that did not get in.
func (im *importing) done(number int, text []byte, out memd.Imported) error {
	im.report.Outcomes[out.Outcome]++
	if len(out.Warnings) > 0 {
		im.report.Warned++
	}
	if im.answered++; im.opts.Progress != nil && im.answered%progressAt == 0 {
		im.opts.Progress(im.answered)
	}
	if !out.Outcome.Failed() {
		return nil
	}
	im.report.Parked = append(im.report.Parked, Parked{number, out.Outcome, out.ID, out.Code, out.Field, out.Reason, out.Hint})
	if im.opts.Rejects == nil {
		return nil
	}
	_, err := im.opts.Rejects.Write(append(text[:len(text):len(text)], '\n'))
	return err
}

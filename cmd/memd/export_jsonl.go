package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/exchange/jsonl"
	"memd/guard/confine"
	"memd/internal/atomicfile"
)

// exportJSONL writes the whole store as lines of JSON.
func (c *cli) exportJSONL(cmd *cobra.Command) form {
	if cmd.Flags().Lookup("namespace") == nil { // another form may have it
		cmd.Flags().String("namespace", "", "only this namespace (default all)")
	}
	return form{"jsonl", "the file to write the whole store to, a JSON object a line; - for stdout", func(cmd *cobra.Command, place string) error {
		var only []string
		if ns := cmd.Flags().Lookup("namespace"); ns.Changed {
			only = []string{ns.Value.String()}
		}
		if err := c.writable("jsonl", place); err != nil {
			return err
		}
		return c.reading(cmd, func(m *memory) error {
			var done exportedTo
			var err error
			if place == fromStdin {
				done, err = c.exportTo(cmd, m, only, c.out)
			} else {
				tidy(filepath.Dir(place))
				err = atomicfile.Write(place, 0o600, func(w io.Writer) (err error) {
					done, err = c.exportTo(cmd, m, only, w)
					return err
				})
			}
			if err != nil {
				return err
			}
			done.File = place
			return c.exportDone(done)
		})
	}}
}

// unfinished is how old a file must be that a write left unfinished to be one whose
// writer has died.
const unfinished = 10 * time.Minute

// tidy removes from a folder what exports that were killed left there, with the text of
// memories in it. What hinders that hinders no export.
func tidy(dir string) {
	folder, err := confine.Open(dir)
	if err != nil {
		return
	}
	defer folder.Close()
	_ = folder.Tidy("", unfinished)
}

// exportedTo is the answer with --json: the lines go elsewhere.
type exportedTo struct {
	File    string   `json:"file"`
	Lines   int      `json:"lines"`
	Bytes   int64    `json:"bytes"`
	Missing []string `json:"missing"` // historical databases that could not be read
}

func (c *cli) exportTo(cmd *cobra.Command, m *memory, only []string, w io.Writer) (done exportedTo, err error) {
	line, end := c.progress()
	f := jsonl.NewFollower(w, func(lines, rows int) { line("export: %d lines of about %d", lines, max(lines, rows)) })
	err = m.Export(cmd.Context(), only, f)
	end()
	if err == nil && !f.Whole() {
		err = memd.Errorf(memd.CodeStoreFailed, "the export ended before its last line").WithHint("the daemon's log names the cause; export again")
	}
	return exportedTo{Lines: f.Lines(), Bytes: f.Bytes(), Missing: append([]string{}, f.Header().Missing...)}, err
}

// exportDone tells what was exported, where that is not itself on stdout. What lacks a
// part of the store is an export all the same, and a failure.
func (c *cli) exportDone(done exportedTo) (err error) {
	switch {
	case done.File == fromStdin:
	case c.json:
		err = c.document(done)
	default:
		err = c.print(func(w io.Writer) { fmt.Fprintf(w, "%s: %d lines, %d bytes\n", done.File, done.Lines, done.Bytes) })
	}
	for _, file := range done.Missing {
		fmt.Fprintf(c.errs, "memd: %s cannot be read, and is not in the export\n", plain(file))
	}
	if err == nil && len(done.Missing) > 0 {
		err = exitError(memd.ExitFailed)
	}
	return err
}

// writable refuses a place that a flag names and a file cannot be put in. One in the data
// folder would take the place of what memd keeps there.
func (c *cli) writable(flag, place string) error {
	if place == "" {
		return memd.FieldErrorf(memd.CodeInvalidRequest, flag, "--%s names no file", flag)
	}
	if place == fromStdin {
		return nil
	}
	if info, err := os.Stat(place); err == nil && !info.Mode().IsRegular() {
		return memd.FieldErrorf(memd.CodeInvalidRequest, flag, "%s is no regular file", place).WithHint("name a file, or - for stdout")
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if confine.Holds(cfg.Dir, place) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, flag, "%s lies in the data directory", place).WithHint("choose a folder elsewhere")
	}
	return nil
}

// progress shows one line on a terminal, which is written over; end clears it. Elsewhere
// it shows nothing.
func (c *cli) progress() (line func(format string, args ...any), end func()) {
	if !onTerminal(c.errs) {
		return func(string, ...any) {}, func() {}
	}
	shown := false
	return func(format string, args ...any) {
			shown = true
			fmt.Fprint(c.errs, clearLine, plain(fmt.Sprintf(format, args...)))
		}, func() {
			if shown {
				fmt.Fprint(c.errs, clearLine)
			}
		}
}

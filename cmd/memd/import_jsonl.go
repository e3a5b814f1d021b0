package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/exchange/jsonl"
	"memd/internal/atomicfile"
	"memd/store"
)

// importJSONL takes in what an export wrote.
func (c *cli) importJSONL(cmd *cobra.Command) form {
	cmd.Flags().String("rejects", "", "of --jsonl: a file for the lines that did not get in, to be mended and imported again")
	if cmd.Flags().Lookup("dry-run") == nil { // another form may have it
		cmd.Flags().Bool("dry-run", false, "only report what would be done")
	}
	return form{"jsonl", "the file of an export to read; - for stdin", func(cmd *cobra.Command, place string) error {
		for _, name := range []string{"namespace", "access"} { // of other forms
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
				return usagef("take --"+name+" away", "--%s says nothing of --jsonl: each line has its own", name)
			}
		}
		rejects := cmd.Flags().Lookup("rejects").Value.String()
		if cmd.Flags().Changed("rejects") {
			if err := c.writable("rejects", rejects); err != nil {
				return err
			}
			if same(rejects, place) {
				return memd.FieldErrorf(memd.CodeInvalidRequest, "rejects", "--rejects names the file that is imported, and would leave only what is refused of it")
			}
		}
		opts := jsonl.Options{Dry: cmd.Flags().Lookup("dry-run").Value.String() == "true"}
		in, err := c.lines("jsonl", place)
		if err != nil {
			return err
		}
		defer in.Close()
		return c.with(cmd, func(m *memory) error {
			if rejects == "" {
				return c.importFrom(cmd, m, in, opts)
			}
			var failed error // that lines were refused does not undo the file
			err := atomicfile.Write(rejects, 0o600, func(w io.Writer) error {
				opts.Rejects = w
				failed = c.importFrom(cmd, m, in, opts)
				return nil
			})
			if err != nil {
				return err
			}
			return failed
		})
	}}
}

// same reports whether two paths name one file that is there.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// lines opens what a flag names to be imported, which is read more than once: what comes
// on stdin is kept in a file without a name meanwhile.
func (c *cli) lines(flag, place string) (*os.File, error) {
	if place == "" {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, flag, "--%s names no file", flag)
	}
	from := c.in
	if place != fromStdin {
		f, err := os.Open(place)
		if err != nil {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, flag, "%v", err)
		}
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		if err == nil && info.IsDir() {
			err = memd.FieldErrorf(memd.CodeInvalidRequest, flag, "%s is a folder", place)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		defer f.Close()
		from = f
	}
	f, err := os.CreateTemp("", "memd-import-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where the system can do without; its mode is 0600
	if _, err = io.Copy(f, from); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (c *cli) importFrom(cmd *cobra.Command, m *memory, in *os.File, opts jsonl.Options) error {
	store := client.Values{Client: m.Client}
	if !opts.Dry {
		stats, err := m.Stats(cmd.Context())
		if err != nil {
			return err
		}
		c.warnOfBytes(in, stats.Value)
		room, err := store.Room(cmd.Context())
		if err == nil {
			err = jsonl.Fit(cmd.Context(), store, in, room)
		}
		if err != nil {
			return err
		}
	}
	line, end := c.progress()
	opts.Progress = func(lines int) { line("import: %d lines", lines) }
	report, err := jsonl.Import(cmd.Context(), store, in, opts)
	end()
	if c.json {
		if err := c.document(report); err != nil {
			return err
		}
	} else if err := c.print(func(w io.Writer) { importedLines(w, report) }); err != nil {
		return err
	}
	if err == nil && report.Failed() {
		return exitError(memd.ExitFailed)
	}
	return err
}

// warnOfBytes says that a file is more than the store's databases may still hold.
func (c *cli) warnOfBytes(in *os.File, stats store.Stats) {
	info, err := in.Stat()
	if err != nil {
		return
	}
	for _, b := range stats.Budgets {
		limit, err := strconv.ParseInt(b.Limit, 10, 64)
		if b.Budget == "store_bytes" && err == nil && b.Used != nil && info.Size() > limit-*b.Used {
			fmt.Fprintf(c.errs, "memd: the file has %d bytes, and budgets.store_bytes has %d left: superseded versions, archived rows and vectors may have to go for it\n",
				info.Size(), limit-*b.Used)
		}
	}
}

// parkedShown is how many lines that did not get in are shown.
const parkedShown = 20

// importedLines tells people what became of a file.
func importedLines(w io.Writer, r jsonl.Report) {
	fmt.Fprintf(w, "%d lines", r.Lines)
	sep := ": "
	for _, o := range memd.Outcomes() {
		if n := r.Outcomes[o]; n > 0 {
			fmt.Fprintf(w, "%s%d %s", sep, n, o)
			sep = ", "
		}
	}
	fmt.Fprintln(w)
	for i, p := range r.Parked {
		if i == parkedShown {
			fmt.Fprintf(w, "and %d more; --json names all, --rejects FILE takes them\n", len(r.Parked)-i)
			break
		}
		fmt.Fprintf(w, "line %d: %s: %s", p.Line, p.Outcome, p.Reason)
		if p.ID != "" {
			fmt.Fprintf(w, " (%s)", p.ID)
		}
		fmt.Fprintln(w)
	}
	if r.Warned > 0 {
		fmt.Fprintf(w, "%d lines came in with warnings of the guards; `memd log` names what was taken out\n", r.Warned)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(w, "the file: %s\n", fault)
	}
}

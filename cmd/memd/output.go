package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memd/api/client"
	"memd/guard/fence"
)

// show prints the answer to a call: as it came with --json, else as human
// words it. An error's document is an answer too, and a call without an answer
// is an empty object, so that --json is one JSON document whatever happened.
func show[T any](c *cli, reply client.Reply[T], err error, human func(io.Writer, T)) error {
	if c.json && (err == nil || len(reply.Raw) > 0) {
		if len(reply.Raw) == 0 {
			reply.Raw = []byte("{}")
		}
		if _, err := fmt.Fprintf(c.out, "%s\n", reply.Raw); err != nil {
			return err
		}
	}
	if err != nil || c.json {
		return err
	}
	return c.print(func(w io.Writer) { human(w, reply.Value) })
}

// print writes text for people. Whatever came from the store passes through
// plain, so no command can forget it.
func (c *cli) print(human func(io.Writer)) error {
	var b strings.Builder
	human(&b)
	_, err := c.out.WriteString(plain(b.String()))
	return err
}

// plain makes stored text harmless to a terminal: control characters, which
// could move the cursor or change the window's title, and what reorders text or
// shows nothing are shown by their number.
func plain(s string) string { return fence.Shown(s) }

// table aligns columns. Each row is a list of cells; a cell is one line.
func table(w io.Writer, rows ...[]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = plain(oneLine(cell))
		}
		fmt.Fprintln(tw, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	tw.Flush() // into a strings.Builder, which takes everything
}

// oneLine collapses white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip cuts s to n code points, marking the cut.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// indent puts prefix before each of the first n lines of s, and says how many
// there are beyond.
func indent(w io.Writer, prefix, s string, n int) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		if n > 0 && i == n {
			fmt.Fprintf(w, "%s… %d more lines\n", prefix, len(lines)-n)
			return
		}
		fmt.Fprintf(w, "%s%s\n", prefix, line)
	}
}

package main

import (
	"context"
	"fmt"
	"time"

	"memd/groom"
)

// clearLine takes what the cursor's line shows off a terminal.
const clearLine = "\r\x1b[K"

// watchGroom shows on a terminal how far a groom has come, in one line that is
// written over, until end is called, which clears it. Elsewhere it does nothing.
func (c *cli) watchGroom(ctx context.Context, m *memory) (end func()) {
	if c.json || !onTerminal(c.errs) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for line := ""; ; {
			select {
			case <-ctx.Done():
				if line != "" {
					fmt.Fprint(c.errs, clearLine)
				}
				return
			case <-tick.C:
			}
			reply, err := m.GroomReports(ctx)
			if err != nil || reply.Value.Running == nil {
				continue // it has not begun, or is over
			}
			if now := underWay(*reply.Value.Running); now != line {
				line = now
				fmt.Fprint(c.errs, clearLine, plain(line))
			}
		}
	}()
	return func() { cancel(); <-done }
}

// underWay words how far a groom has come.
func underWay(p groom.Progress) string {
	line := "groom: " + p.Pass
	if p.Planned > 0 {
		line += fmt.Sprintf(", %d of %d", p.Changed, p.Planned)
	}
	return line
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"memd"
	"memd/configs"
	"memd/store"
)

// repairs is the answer of memd doctor --repair: what was done, and what was
// found afterwards.
type repairs struct {
	OK bool `json:"ok"`
	store.Repaired
	Findings []store.Finding `json:"findings"`
}

// repair mends what can be mended, then examines the store as it is then. The
// exit code is that of the examination.
func (c *cli) repair(ctx context.Context, cfg *configs.Loaded) error {
	if err := apart(ctx, cfg, "doctor --repair"); err != nil {
		return err
	}
	done, err := c.mend(ctx, cfg)
	var left []store.Finding
	if err != nil {
		if left, err = broken(ctx, nil, "repair", err); err != nil {
			return err
		}
	}
	found, err := c.examine(ctx, cfg)
	answer := repairs{Repaired: done, Findings: append(append([]store.Finding{}, left...), found...)}
	answer.OK = len(answer.Findings) == 0 && err == nil
	if c.json {
		err = errors.Join(err, c.document(answer))
	} else {
		err = errors.Join(err, c.print(func(w io.Writer) { repaired(w, answer) }))
	}
	if err == nil && !answer.OK {
		return exitError(memd.ExitFailed)
	}
	return err
}

// mend repairs the databases, then closes the files to others: those of the
// backup that the repair took are closed already.
func (c *cli) mend(ctx context.Context, cfg *configs.Loaded) (store.Repaired, error) {
	loose, err := looseFiles(cfg.Dir, len(cfg.Socket.Peers) > 0) // opening the store mends some
	if err != nil {
		return store.Repaired{Mended: []store.Mended{}}, err
	}
	if len(loose) > 0 { // nothing opens beside a key that others may read
		err = closeFiles(cfg.Dir)
	}
	if err != nil {
		return store.Repaired{Mended: []store.Mended{}}, err
	}
	a, err := openApp(ctx, cfg, c.logger(cfg, slog.LevelWarn), c.wait, toChange)
	if err != nil {
		return store.Repaired{Mended: []store.Mended{}}, err
	}
	done, err := a.store.Repair(ctx)
	chmod := closeFiles(cfg.Dir)
	if chmod == nil && len(loose) > 0 {
		done.Mended = append(done.Mended, store.Mended{
			Check: "mode", Detail: fmt.Sprintf("closed files and folders to others (%d)", len(loose)),
		})
	}
	return done, errors.Join(err, chmod, a.close())
}

func repaired(w io.Writer, r repairs) {
	if r.Backup != "" {
		fmt.Fprintf(w, "backup: %s\n", r.Backup)
	}
	for _, m := range r.Mended {
		fmt.Fprintf(w, "mended %s: %s\n", m.Check, m.Detail)
	}
	listFindings(w, r.Findings)
}

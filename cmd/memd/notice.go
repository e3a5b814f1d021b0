package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"memd/guard"
	"memd/store"
)

// notice has the log tell of tokens and allowances that were changed since it was
// last looked. Tokens may be nil, for those of the data folder.
func (a *app) notice(ctx context.Context, tokens *guard.Tokens) {
	a.noticing.Lock()
	defer a.noticing.Unlock()
	if tokens == nil {
		if _, err := os.Stat(filepath.Join(a.cfg.Dir, guard.TokensFile)); err == nil { // else opening them would make the first
			tokens, _ = guard.Open(a.cfg.Dir, a.log)
		}
	}
	if tokens != nil {
		if list, err := tokens.List(); err == nil { // else the tokens themselves say so
			if err := a.tiers.NoticeTokens(ctx, list); err != nil && ctx.Err() == nil {
				a.log.Error("changes of tokens not logged", "error", err)
			}
		}
	}
	if list, err := a.allowed.List(); err == nil {
		if err := a.tiers.NoticeAllowed(ctx, list); err != nil && ctx.Err() == nil {
			a.log.Error("changes of the allow-list not logged", "error", err)
		}
	}
}

// telling has a change of a token or an allowance noticed before another can undo it:
// by the daemon, or in the store where none runs; reading the log does that. The
// change stands whatever comes of it, and what is missed here the next look finds, if
// it still differs then.
func (c *cli) telling(change func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := change(cmd, args); err != nil {
			return err
		}
		if err := c.told(cmd.Context()); err != nil {
			c.warn([]string{"done, and not in memd log yet: " + errorText(err)})
		}
		return nil
	}
}

func (c *cli) told(ctx context.Context) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, store.ActiveName)); err != nil {
		return nil // there is no store yet, and none is made for this
	}
	m, err := c.reach(ctx, cfg, toRead)
	if err != nil {
		return err
	}
	_, err = m.Log(ctx, store.LogFilter{Limit: 1})
	return errors.Join(err, m.release())
}

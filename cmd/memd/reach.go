package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/configs"
	"memd/internal/dirlock"
)

// memory is the way to the store: through the running daemon, or through the
// store opened by this process.
type memory struct {
	*client.Client
	release func() error
}

// probeTimeout is how long a daemon may take to say that it lives.
const probeTimeout = 2 * time.Second

// purpose is what the store is opened for.
type purpose int

const (
	toChange purpose = iota
	toRead           // and kept as it is, whatever the budgets; see store.Options.AsItIs
)

// with reaches the store, runs fn and lets the store go again.
func (c *cli) with(cmd *cobra.Command, fn func(*memory) error) error {
	return c.within(cmd, toChange, fn)
}

// reading is with for what changes no memory.
func (c *cli) reading(cmd *cobra.Command, fn func(*memory) error) error {
	return c.within(cmd, toRead, fn)
}

func (c *cli) within(cmd *cobra.Command, why purpose, fn func(*memory) error) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	m, err := c.reach(cmd.Context(), cfg, why)
	if err != nil {
		return err
	}
	return errors.Join(fn(m), m.release())
}

// reach finds the running daemon, or else takes the data folder itself. A
// folder in use without a daemon on its socket is another command's, or that
// of a daemon that starts or ends: both are tried until --wait has passed.
func (c *cli) reach(ctx context.Context, cfg *configs.Loaded, why purpose) (*memory, error) {
	deadline := time.Now().Add(c.wait)
	for {
		if m := running(ctx, cfg.Dir); m != nil {
			return m, nil
		}
		// Without a wait of its own Acquire still insists for a moment, which
		// paces this loop.
		a, err := openApp(ctx, cfg, c.logger(cfg, slog.LevelWarn), 0, why)
		if _, held := errors.AsType[*dirlock.HeldError](err); held && time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &memory{client.New(client.Handler(a.server(nil, nil).Local())), a.close}, nil
	}
}

// apart refuses what needs the data folder to itself while a daemon runs on it:
// waiting for a daemon to end is no use.
func apart(ctx context.Context, cfg *configs.Loaded, what string) error {
	m := running(ctx, cfg.Dir)
	if m == nil {
		return nil
	}
	pid, _, err := dirlock.Holder(cfg.Dir)
	return errors.Join(memd.Errorf(memd.CodeStoreBusy, "%s needs the data folder to itself, and a daemon runs on %s (process %d)", what, cfg.Dir, pid).
		WithHint("end it (kill %d, or by what started it), run this again, then start it anew", pid), err, m.release())
}

// running returns a client of the daemon on the folder's socket, nil where
// none answers.
func running(ctx context.Context, dir string) *memory {
	socket := filepath.Join(dir, dirlock.SocketName)
	if _, err := os.Stat(socket); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	m := client.New(client.Unix(socket))
	if err := m.Alive(ctx); err != nil {
		m.Close()
		return nil
	}
	return &memory{m, func() error { m.Close(); return nil }}
}

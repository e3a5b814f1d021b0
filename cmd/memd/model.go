package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/configs"
	"memd/embedding/static"
	"memd/guard/confine"
	"memd/internal/dirlock"
)

func (c *cli) model() *cobra.Command {
	return group("model", "Make, list and remove tables of word vectors", c.modelAdd(), c.modelList(), c.modelRemove())
}

// model is a table as commands show it.
type model struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"` // as vectors name it
	Dim   int    `json:"dim,omitempty"`
	Words int    `json:"words,omitempty"`
	Bytes int64  `json:"bytes"`
	InUse bool   `json:"in_use"`          // by the configuration
	Error string `json:"error,omitempty"` // why it cannot be used
}

func (c *cli) modelAdd() *cobra.Command {
	var name string
	var words int
	cmd := &cobra.Command{
		Use:   "add FILE|DIR",
		Short: "Make a table of word vectors out of a model's files",
		Long: `Make a table of word vectors out of a file of GloVe's, fastText's or word2vec's
text form, or a folder of model2vec (model.safetensors and tokenizer.json). It
needs no daemon; a running one takes up another table when it is started anew.`,
		Example: "  memd model add glove.6B.100d.txt --name glove",
		Args:    oneID("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "" {
				base := filepath.Base(filepath.Clean(args[0]))
				name = strings.TrimSuffix(base, filepath.Ext(base))
			}
			if !configs.ValidModelName(name) || confine.CheckPortable(name) != nil {
				return memd.FieldErrorf(memd.CodeInvalidRequest, "name", "%.80q is no name for a table", name).
					WithHint("--name takes up to 64 letters, digits, dots, dashes and underscores, and no name of a device such as con")
			}
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if err := c.makeModelDir(cmd.Context(), cfg); err != nil {
				return err
			}
			progress := newProgress(c.errs, args[0])
			r, err := static.Convert(cmd.Context(), args[0], modelPath(cfg.Dir, name),
				static.Options{Name: name, Words: words, Progress: progress.tell})
			progress.end()
			if err != nil {
				return err
			}
			if c.json {
				return c.document(struct {
					model
					Skipped int `json:"skipped"`
				}{model{Name: name, Model: r.Model, Dim: r.Dim, Words: r.Words, Bytes: r.Bytes, InUse: usesModel(cfg, name)}, r.Skipped})
			}
			return c.print(func(w io.Writer) {
				fmt.Fprintf(w, "made %s: %d words, %d numbers each, %d bytes\n", name, r.Words, r.Dim, r.Bytes)
				if r.Skipped > 0 {
					fmt.Fprintf(w, "left out: %d words that are repeated, too long or never found in a text\n", r.Skipped)
				}
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the table (default that of the file)")
	cmd.Flags().IntVar(&words, "words", 0, "most words kept of a file of words, the first ones (default 200000)")
	return cmd
}

func (c *cli) modelList() *cobra.Command {
	return &cobra.Command{
		Use:               "list",
		Short:             "List the tables of word vectors",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			models, err := listModels(cfg)
			if err != nil {
				return err
			}
			if c.json {
				return c.document(struct {
					Models []model `json:"models"`
				}{models})
			}
			lines := [][]string{{"NAME", "WORDS", "DIM", "BYTES", "STATE"}}
			for _, m := range models {
				state := m.Error
				if state == "" && m.InUse {
					state = "in use"
				}
				lines = append(lines, []string{m.Name, fmt.Sprint(m.Words), fmt.Sprint(m.Dim), fmt.Sprint(m.Bytes), state})
			}
			return c.print(func(w io.Writer) { table(w, lines...) })
		},
	}
}

// listModels looks at every table. One that cannot be used is listed as well.
func listModels(cfg *configs.Loaded) ([]model, error) {
	entries, err := os.ReadDir(filepath.Join(cfg.Dir, modelDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	models := []model{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), modelExt)
		if !ok || !configs.ValidModelName(name) {
			continue
		}
		m := model{Name: name, InUse: usesModel(cfg, name)}
		if info, err := e.Info(); err == nil {
			m.Bytes = info.Size()
		}
		if t, err := static.Open(modelPath(cfg.Dir, name)); err != nil {
			m.Error = err.Error()
		} else {
			m.Model, m.Dim, m.Words = t.Model(), t.Dim(), t.Words()
			if err := t.Close(); err != nil {
				return nil, err
			}
		}
		models = append(models, m)
	}
	return models, nil
}

func (c *cli) modelRemove() *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove a table of word vectors",
		Args:              oneID("name"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := c.load()
			if err != nil {
				return err
			}
			if usesModel(cfg, args[0]) {
				return memd.Errorf(memd.CodeInvalidRequest, "the configuration uses the table %s", args[0]).
					WithHint("set embedding.provider or embedding.model to another first")
			}
			err = fs.ErrNotExist
			if configs.ValidModelName(args[0]) {
				err = os.Remove(modelPath(cfg.Dir, args[0]))
			}
			if errors.Is(err, fs.ErrNotExist) {
				return memd.Errorf(memd.CodeNotFound, "there is no table %.80q", args[0]).WithHint("`memd model list` shows those there are")
			}
			if err != nil {
				return err
			}
			if c.json {
				return c.document(struct{}{})
			}
			return c.print(func(w io.Writer) { fmt.Fprintln(w, "removed") })
		},
	}
}

func usesModel(cfg *configs.Loaded, name string) bool {
	return cfg.Embedding.Provider == configs.ProviderStatic && cfg.Embedding.Model == name
}

// makeModelDir makes the folder of the tables, and the data folder the way the
// daemon would. The lock of the latter is not needed: a table is renamed into
// its place when it is whole.
func (c *cli) makeModelDir(ctx context.Context, cfg *configs.Loaded) error {
	if _, err := os.Stat(cfg.Dir); errors.Is(err, fs.ErrNotExist) {
		lock, err := dirlock.Acquire(ctx, cfg.Dir, c.wait, dirlock.Options{AllowNetworkFS: cfg.AllowNetworkFS})
		if err != nil {
			return err
		}
		if err := lock.Release(); err != nil {
			return err
		}
	}
	dir := filepath.Join(cfg.Dir, modelDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// progress shows on a terminal how far a long work is.
type progress struct {
	out  io.Writer // nil where it is no terminal
	what string
	next time.Time
	tell func(done, total int64)
}

const progressEvery = 200 * time.Millisecond

func newProgress(errs io.Writer, what string) *progress {
	p := &progress{what: plain(oneLine(what))}
	if onTerminal(errs) {
		p.out = errs
	}
	p.tell = func(done, total int64) { p.show(time.Now(), done, total) }
	return p
}

func (p *progress) show(now time.Time, done, total int64) {
	if p.out == nil || now.Before(p.next) || total <= 0 {
		return
	}
	p.next = now.Add(progressEvery)
	fmt.Fprintf(p.out, "\r%s: %3d %%", p.what, 100*done/total)
}

// end leaves the line.
func (p *progress) end() {
	if p.out != nil && !p.next.IsZero() {
		fmt.Fprintln(p.out)
	}
}

package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/openai"
	"memd/embedding/static"
)

// Where the tables of `memd model` lie: a file each below the data folder.
const (
	modelDir = "models"
	modelExt = ".table"
)

func modelPath(dir, name string) string { return filepath.Join(dir, modelDir, name+modelExt) }

// openEmbedder opens what the configuration names, nil for none. It asks no
// server: one that is down is no reason not to start. The caller must call
// close, after the last use.
func openEmbedder(cfg *configs.Loaded) (e embedding.Embedder, close func() error, err error) {
	switch c := cfg.Embedding; c.Provider {
	case configs.ProviderStatic:
		table, err := static.Open(modelPath(cfg.Dir, c.Model))
		if errors.Is(err, fs.ErrNotExist) {
			err = memd.FieldErrorf(memd.CodeInvalidRequest, "embedding.model", "embedding.model: there is no table %q", c.Model).
				WithHint("`memd model add FILE --name %s` makes one; `memd model list` shows those there are", c.Model)
		}
		if err != nil {
			return nil, nil, err
		}
		return table, table.Close, nil
	case configs.ProviderOpenAI:
		return askServer(cfg, c.Model, c.Dim)
	}
	return nil, func() error { return nil }, nil
}

// askServer makes the client of the server that the configuration names.
func askServer(cfg *configs.Loaded, model string, dim int) (embedding.Embedder, func() error, error) {
	c := cfg.Embedding
	client, err := openai.New(openai.Config{
		URL: c.URL, Model: model, Dim: dim, SendDim: c.SendDim, Key: openai.Key(cfg.EmbeddingKey()), Timeout: c.Timeout,
	})
	if err != nil {
		return nil, nil, inSection("embedding", err)
	}
	return client, func() error { client.Close(); return nil }, nil
}

// previous is the embedder whose vectors serve until there are enough of
// another's.
type previous struct {
	embedding.Embedder // nil for none
	floor              float64
	close              func() error
}

// cleaned hands it no text but as clean leaves it.
func (p previous) cleaned(clean func(string) string) previous {
	if p.Embedder != nil {
		p.Embedder = embedding.Cleaned(p.Embedder, clean)
	}
	return p
}

// openPrevious opens the embedder that made vectors of a model: the table, if it
// still lies there, or the server in use, if that is one, under the old model's
// name. There is none where it cannot.
func openPrevious(cfg *configs.Loaded, model string, dim int) previous {
	none := previous{close: func() error { return nil }}
	switch {
	case model == "" || cfg.Embedding.Provider == configs.ProviderNone:
		return none
	case static.NameOf(model) != "":
		return openTable(cfg, model, none)
	case cfg.Embedding.Provider != configs.ProviderOpenAI:
		return none
	}
	client, close, err := askServer(cfg, model, dim)
	if err != nil {
		return none
	}
	return previous{client, cfg.Embedding.FloorOf(configs.ProviderOpenAI), close}
}

// openTable opens the table of a model, if it is still the one under its name.
func openTable(cfg *configs.Loaded, model string, none previous) previous {
	name := static.NameOf(model)
	if !configs.ValidModelName(name) { // the database is the person's in the shell too
		return none
	}
	table, err := static.Open(modelPath(cfg.Dir, name))
	if err != nil {
		return none
	}
	if table.Model() != model {
		return previous{close: table.Close}
	}
	return previous{table, cfg.Embedding.FloorOf(configs.ProviderStatic), table.Close}
}

// inSection names the field at fault as that section of the configuration does.
func inSection(section string, err error) error {
	bad, ok := errors.AsType[*memd.Error](err)
	if !ok || bad.Field == "" {
		return err
	}
	named := *bad
	named.Field = section + "." + bad.Field
	if bad.Field == "key" {
		named.Field = section + ".key_env"
	}
	named.Message = named.Field + ": " + bad.Message
	return &named
}

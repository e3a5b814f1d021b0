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
		client, err := openai.New(openai.Config{
			URL: c.URL, Model: c.Model, Dim: c.Dim, SendDim: c.SendDim, Key: openai.Key(cfg.EmbeddingKey()), Timeout: c.Timeout,
		})
		if err != nil {
			return nil, nil, inSection("embedding", err)
		}
		return client, func() error { client.Close(); return nil }, nil
	}
	return nil, func() error { return nil }, nil
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

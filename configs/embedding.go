package configs

import (
	"net/url"
	"regexp"
	"time"
)

// Embedding says who turns texts into vectors. Package embedding has what a
// provider does.
type Embedding struct {
	// Provider is [ProviderNone], [ProviderOpenAI] or [ProviderStatic].
	Provider string `yaml:"provider"`
	// Model is the server's name of it, or that of a table of `memd model`.
	Model string `yaml:"model"`
	// Floor is the cosine from which on a row is a match by its vector alone, 0
	// for the provider's own: [Embedding.FloorOf].
	Floor float64 `yaml:"floor"`

	// What is below is for a server alone.

	URL string `yaml:"url"`
	// KeyEnv names the environment variable that holds the key, "" for none:
	// the key itself stands in no file, and [Loaded.EmbeddingKey] returns it.
	KeyEnv  string        `yaml:"key_env"`
	Dim     int           `yaml:"dim"`      // numbers of a vector
	SendDim bool          `yaml:"send_dim"` // whether the server is asked for that many
	Timeout time.Duration `yaml:"timeout"`  // of one request
	Batch   int           `yaml:"batch"`    // most texts of one turn of the worker
}

// Values of Embedding.Provider.
const (
	ProviderNone   = "none"
	ProviderOpenAI = "openai"
	ProviderStatic = "static"
)

// Floors of the providers (docs/adr/0003-recall-order.md). That of a server is
// not measured, since nobody knows its model.
const (
	floorStatic = 0.7
	floorOpenAI = 0.8
)

// FloorOf is the floor of a provider's vectors: the one that is set, if the
// provider is the one in use, else its own.
func (e Embedding) FloorOf(provider string) float64 {
	switch {
	case e.Provider == provider && e.Floor > 0:
		return e.Floor
	case provider == ProviderOpenAI:
		return floorOpenAI
	}
	return floorStatic
}

// Bounds of what an embedder is asked for.
const (
	maxDim     = 8192 // sqlite-vec takes no longer vector
	maxBatch   = 1024
	maxTimeout = 10 * time.Minute
)

var (
	variableForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	modelNameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
)

// ValidModelName reports whether a table of `memd model` may have this name. It
// is that of a file.
func ValidModelName(name string) bool { return modelNameForm.MatchString(name) }

func (c Config) embeddingProblem() *problem {
	e := c.Embedding
	switch {
	case e.Timeout < time.Millisecond || e.Timeout > maxTimeout:
		return problemf("embedding.timeout", "%s is not from 1ms to %s", formatDuration(e.Timeout), formatDuration(maxTimeout))
	case e.Batch < 1 || e.Batch > maxBatch:
		return problemf("embedding.batch", "%d is not from 1 to %d", e.Batch, maxBatch)
	case e.Dim < 0 || e.Dim > maxDim:
		return problemf("embedding.dim", "%d is not from 0 to %d", e.Dim, maxDim)
	case !(e.Floor >= 0 && e.Floor <= 1):
		return problemf("embedding.floor", "%v is not from 0 to 1", e.Floor)
	case e.KeyEnv != "" && !variableForm.MatchString(e.KeyEnv):
		return problemf("embedding.key_env", "it names no environment variable; the key itself does not belong here")
	}
	switch e.Provider {
	case ProviderNone:
	case ProviderStatic:
		if !ValidModelName(e.Model) {
			p := problemf("embedding.model", "%.80q is no name of a table; `memd model list` shows those there are", e.Model)
			p.by = "embedding.provider"
			return p
		}
	case ProviderOpenAI:
		p := e.serverProblem()
		if p != nil {
			p.by = "embedding.provider"
		}
		return p
	default:
		return problemf("embedding.provider", "%.40q is none of none, openai, static", e.Provider)
	}
	return nil
}

// serverProblem never shows the URL, into which keys are pasted.
func (e Embedding) serverProblem() *problem {
	if p := addressProblem("embedding", e.URL); p != nil {
		return p
	}
	switch {
	case e.Model == "":
		return problemf("embedding.model", "the server's model is not named")
	case e.Model == ProviderNone:
		return problemf("embedding.model", "the name %q stands for no model", e.Model)
	case e.Dim == 0:
		return problemf("embedding.dim", "how many numbers a vector of the model has is not given")
	}
	return nil
}

// addressProblem is that of the url of a section that names a server.
func addressProblem(section, text string) *problem {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return problemf(section+".url", "it is no address such as http://127.0.0.1:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return problemf(section+".url", "it holds a user, a query or a fragment; %s.key_env names the variable of a key", section)
	}
	return nil
}

// EmbeddingKey is the key for the server of vectors, "" for none. It is secret.
func (l *Loaded) EmbeddingKey() string { return l.embeddingKey }

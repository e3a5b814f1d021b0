package configs

import "time"

// Selector names a chat model that picks memories of a recall. Package recall has
// what it decides.
type Selector struct {
	// Provider is [ProviderNone] or [ProviderOpenAI].
	Provider string `yaml:"provider"`
	Model    string `yaml:"model"` // as the server names it
	URL      string `yaml:"url"`
	// KeyEnv names the environment variable that holds the key, "" for none:
	// the key itself stands in no file, and [Loaded.SelectorKey] returns it.
	KeyEnv  string        `yaml:"key_env"`
	Timeout time.Duration `yaml:"timeout"` // that a recall waits for it at most
}

// maxSelecting bounds Selector.Timeout: somebody waits.
const maxSelecting = time.Minute

func (c Config) selectorProblem() *problem {
	s := c.Selector
	switch {
	case s.Timeout < time.Millisecond || s.Timeout > maxSelecting:
		return problemf("selector.timeout", "%s is not from 1ms to %s", formatDuration(s.Timeout), formatDuration(maxSelecting))
	case s.KeyEnv != "" && !variableForm.MatchString(s.KeyEnv):
		return problemf("selector.key_env", "it names no environment variable; the key itself does not belong here")
	case s.Provider == ProviderNone:
		return nil
	case s.Provider != ProviderOpenAI:
		return problemf("selector.provider", "%.40q is neither none nor openai", s.Provider)
	}
	p := addressProblem("selector", s.URL)
	if p == nil && s.Model == "" {
		p = problemf("selector.model", "the server's model is not named")
	}
	if p != nil {
		p.by = "selector.provider"
	}
	return p
}

// SelectorKey is the key for the server of the selector, "" for none. It is
// secret.
func (l *Loaded) SelectorKey() string { return l.selectorKey }

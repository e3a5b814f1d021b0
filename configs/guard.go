package configs

// Guard says what is kept out, and what is made harmless on its way to a model.
type Guard struct {
	// Links is [LinksDefuse] or [LinksKeep].
	Links string `yaml:"links"`
}

// Values of Guard.Links. Package guard/fence has what they do.
const (
	LinksDefuse = "defuse"
	LinksKeep   = "keep"
)

func (c Config) guardProblem() *problem {
	if c.Guard.Links != LinksDefuse && c.Guard.Links != LinksKeep {
		return problemf("guard.links", "%.40q is neither defuse nor keep", c.Guard.Links)
	}
	return nil
}

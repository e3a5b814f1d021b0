package configs

import "slices"

// Guard says what is done with texts at the door, and what is made harmless on
// its way to a model.
type Guard struct {
	// Links is [LinksDefuse] or [LinksKeep].
	Links string `yaml:"links"`
	// Derivable is what is done with a text that the code, git or a log can be
	// asked for: [GuardOff], [GuardWarn] or [GuardBlock], which refuses it in the
	// long tier and warns elsewhere.
	Derivable string `yaml:"derivable"`
}

// Values of Guard.Links. Package guard/fence has what they do.
const (
	LinksDefuse = "defuse"
	LinksKeep   = "keep"
)

// Values of Guard.Derivable.
const (
	GuardOff   = "off"
	GuardWarn  = "warn"
	GuardBlock = "block"
)

func (c Config) guardProblem() *problem {
	if c.Guard.Links != LinksDefuse && c.Guard.Links != LinksKeep {
		return problemf("guard.links", "%.40q is neither defuse nor keep", c.Guard.Links)
	}
	if !slices.Contains([]string{GuardOff, GuardWarn, GuardBlock}, c.Guard.Derivable) {
		return problemf("guard.derivable", "%.40q is none of warn, block, off", c.Guard.Derivable)
	}
	return nil
}

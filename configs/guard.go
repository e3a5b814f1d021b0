package configs

import (
	"regexp"
	"slices"
	"strings"
)

// Guard says what is done with texts at the door, and what is made harmless on
// its way to a model. The zero value lets everything in.
type Guard struct {
	// Links is [LinksDefuse] or [LinksKeep].
	Links string `yaml:"links"`

	// Secrets is what is done with keys, tokens and passwords.
	Secrets GuardSecrets `yaml:"secrets"`
	// Allow says what of them passes nevertheless.
	Allow GuardAllow `yaml:"allow"`

	// What is done with personal data, each GuardOff, GuardRedact or GuardBlock.
	// Of e-mail addresses and telephone numbers GuardRedact takes out those of a
	// long raw_content, and warns of others.
	Cards string `yaml:"cards"` // numbers of payment cards
	IDs   string `yaml:"ids"`   // Chinese resident identity numbers
	IBAN  string `yaml:"iban"`
	Email string `yaml:"email"`
	Phone string `yaml:"phone"`

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

// GuardSecrets is GuardOff, GuardRedact or GuardBlock for each tier.
type GuardSecrets struct {
	Long      string `yaml:"long"`
	Team      string `yaml:"team"` // of long and short rows in namespaces team/…, where it is the stricter one
	Short     string `yaml:"short"`
	Transient string `yaml:"transient"`
}

// GuardAllow are regular expressions (RE2). Each matches from the first character
// to the last.
type GuardAllow struct {
	Values  []string `yaml:"values"`  // of secrets
	Sources []string `yaml:"sources"` // of memories in which nothing is looked for
}

// What a guard at the door does.
const (
	GuardOff    = "off"
	GuardWarn   = "warn"
	GuardRedact = "redact"
	GuardBlock  = "block"
)

// DefaultGuard returns what holds where nothing else is said.
func DefaultGuard() Guard {
	return Guard{
		Links:   LinksDefuse,
		Secrets: GuardSecrets{Long: GuardBlock, Team: GuardBlock, Short: GuardRedact, Transient: GuardRedact},
		Allow:   GuardAllow{Values: []string{}, Sources: []string{}},
		Cards:   GuardRedact, IDs: GuardRedact, IBAN: GuardRedact, Email: GuardRedact, Phone: GuardRedact,
		Derivable: GuardWarn,
	}
}

func (c Config) guardProblem() *problem {
	for _, f := range fieldsOf(&c.Guard) {
		key := "guard." + f.key
		switch v := f.value.Interface().(type) {
		case string:
			words := []string{GuardBlock, GuardRedact, GuardOff}
			switch f.key {
			case "links":
				words = []string{LinksDefuse, LinksKeep}
			case "derivable":
				words[1] = GuardWarn
			}
			if !slices.Contains(words, v) {
				return problemf(key, "%.40q is none of %s", v, strings.Join(words, ", "))
			}
		case []string:
			for i, text := range v {
				if _, err := regexp.Compile(text); err != nil {
					return problemf(key, "entry %d is no regular expression", i+1) // a value may be a secret
				}
			}
		}
	}
	return nil
}

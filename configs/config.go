package configs

import (
	_ "embed"
	"time"
)

// Config is the configuration in force. A Config returned by [Load] is valid.
type Config struct {
	// Dir is the data folder, absolute and clean. It is empty in [Defaults],
	// for the default depends on the environment.
	Dir string `yaml:"dir"`
	// Listen is the TCP address, or [ListenOff].
	Listen string `yaml:"listen"`
	// Hosts are the names accepted in a request's Host beside the loopback
	// ones, in lower case and without a port.
	Hosts []string `yaml:"hosts"`
	// Auth is [AuthToken] or [AuthNone].
	Auth string `yaml:"auth"`
	TLS  TLS    `yaml:"tls"`
	// Socket says who else may use the unix socket.
	Socket Socket `yaml:"socket"`
	Limits Limits `yaml:"limits"`
	Log    Log    `yaml:"log"`

	Budgets Budgets `yaml:"budgets"`

	// Roots maps a namespace to the absolute folder its sources are relative to.
	Roots map[string]string `yaml:"roots"`
	// Owners maps a kind to the owner its memories get when they name none.
	Owners map[string]string `yaml:"owners"`

	Embedding Embedding `yaml:"embedding"`
	Selector  Selector  `yaml:"selector"`

	Instructions Instructions `yaml:"instructions"`

	Dates  Dates  `yaml:"dates"`
	Guard  Guard  `yaml:"guard"`
	Groom  Groom  `yaml:"groom"`
	Backup Backup `yaml:"backup"`

	// AllowNetworkFS accepts a data folder on a network file system.
	AllowNetworkFS bool `yaml:"allow_network_fs"`
}

// TLS says how the TCP listener is protected.
type TLS struct {
	Cert string `yaml:"cert"` // absolute path of a PEM file, "" for none
	Key  string `yaml:"key"`  // absolute path of a PEM file, "" for none
	// TerminatedElsewhere is the operator's word that a proxy in front of a
	// non-loopback listener speaks TLS.
	TerminatedElsewhere bool `yaml:"terminated_elsewhere"`
}

// Log says what is logged to stderr, and in which form.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

// Instructions says which files instruct agents.
type Instructions struct {
	// Names are looked for in each folder, the weakest first, with / between their
	// elements.
	Names []string `yaml:"names"`
}

// Groom says when the daemon keeps the store in order. Both schedules have the
// form that package schedule reads; "" for never.
type Groom struct {
	Schedule  string `yaml:"schedule"` // the full run
	Light     string `yaml:"light"`    // the light run
	CheckURLs bool   `yaml:"check_urls"`
}

// Backup says when backups are made and how they are kept.
type Backup struct {
	// Schedule is when the daemon makes one into the folder backups/, in the
	// form of those of Groom; "" for never.
	Schedule string `yaml:"schedule"`
	// Keep is how many the folder backups/ keeps, the newest; 0 keeps every one.
	Keep int `yaml:"keep"`
}

// Values of Config.Auth, Config.Listen and schedules.
const (
	AuthToken = "token"
	AuthNone  = "none"
	ListenOff = "off"
	// ScheduleOff stands for the empty schedule, which no variable of the environment
	// can say: an empty one counts as unset.
	ScheduleOff = "off"
)

// Defaults returns what holds where nothing else is said.
func Defaults() Config {
	return Config{
		Listen:  "127.0.0.1:6363",
		Hosts:   []string{},
		Auth:    AuthToken,
		Socket:  Socket{Peers: map[string]Peer{}},
		Limits:  DefaultLimits(),
		Log:     Log{Level: "info", Format: "text"},
		Budgets: DefaultBudgets(),
		Roots:   map[string]string{},
		Owners:  map[string]string{},
		Embedding: Embedding{
			Provider: ProviderNone, Timeout: 30 * time.Second, Batch: 32,
		},
		Selector: Selector{Provider: ProviderNone, Timeout: 3 * time.Second},

		Instructions: Instructions{Names: []string{"AGENTS.md", "AGENT.md", "CLAUDE.md", ".agent/AGENT.md"}},

		Dates:  DefaultDates(),
		Guard:  DefaultGuard(),
		Groom:  Groom{Schedule: "0 3 * * 0", Light: "0 * * * *"},
		Backup: Backup{Keep: 7},
	}
}

//go:embed memd.yaml
var sample string

// Sample returns the commented configuration file that states the defaults.
func Sample() string { return sample }

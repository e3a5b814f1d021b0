package configs

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"memd"
	"memd/internal/schedule"
)

// MinActiveBytes is the least an active database may be allowed to hold: below
// it the empty tables and indexes are most of the file.
const MinActiveBytes = 512 << 10

// MaxRawBytes is the most that one raw_content may be allowed to hold. A
// request's body has at most 1 MiB (package api); JSON's escapes and the other
// fields need their part of it.
const MaxRawBytes = 512 << 10

// MaxTransientTTL is the longest life of a transient row. A request may ask for
// no more (package tiers), and one that asks for nothing gets no more either.
const MaxTransientTTL = 720 * time.Hour

// problem is a value that cannot stand.
type problem struct {
	key, text string
	by        string // the key that asks for what is missing, "" for key itself
}

func problemf(key, format string, args ...any) *problem {
	return &problem{key: key, text: fmt.Sprintf(format, args...)}
}

// problem returns the first value of c that cannot stand, nil if all can. The
// paths of c are resolved already.
func (c Config) problem() *problem {
	for _, check := range []func() *problem{
		c.listenProblem, c.hostsProblem, c.tlsProblem, c.socketProblem, c.limitsProblem, c.logProblem, c.Budgets.problem,
		c.rootsProblem, c.ownersProblem, c.embeddingProblem, c.selectorProblem, c.instructionsProblem, c.datesProblem, c.guardProblem, c.groomProblem, c.backupProblem,
	} {
		if p := check(); p != nil {
			return p
		}
	}
	return nil
}

// warnings names what is allowed and yet deserves a second thought.
func (c Config) warnings() []string {
	if c.Auth == AuthNone && c.Listen != ListenOff {
		return []string{"auth: none: whoever can connect to " + c.Listen + " is trusted with everything"}
	}
	return nil
}

// Loopback reports whether the TCP listener, if any, is for this machine alone.
func (c Config) Loopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return c.Listen == ListenOff
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// HostNames are the hosts that a request may name beside the loopback ones:
// those of Hosts, and the one that Listen names, in lower case. An address that
// stands for every one (0.0.0.0, ::) names none.
func (c Config) HostNames() []string {
	names := slices.Clone(c.Hosts)
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || host == "" {
		return names
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		return names
	}
	return append(names, strings.ToLower(host))
}

func (c Config) listenProblem() *problem {
	if c.Auth != AuthToken && c.Auth != AuthNone {
		return problemf("auth", "is neither token nor none")
	}
	if c.Listen == ListenOff {
		return nil
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return problemf("listen", "%.80q is neither an address such as 127.0.0.1:6363 nor off", c.Listen)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return problemf("listen", "%.80q has no port between 0 and 65535", c.Listen)
	}
	if c.Loopback() {
		return nil
	}
	if c.Auth == AuthNone {
		return problemf("listen", "%.80q is no loopback address, which auth: none requires", c.Listen)
	}
	if c.TLS.Cert == "" && !c.TLS.TerminatedElsewhere {
		return problemf("listen", "%.80q is no loopback address and needs tls.cert and tls.key, "+
			"or tls.terminated_elsewhere where a proxy speaks TLS", c.Listen)
	}
	return nil
}

var hostForm = regexp.MustCompile(`^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?$`)

func (c Config) hostsProblem() *problem {
	for _, host := range c.Hosts {
		if _, err := netip.ParseAddr(host); err != nil && !hostForm.MatchString(host) {
			return problemf("hosts", "%.80q is no host name; scheme, port and wildcards do not belong here", host)
		}
	}
	return nil
}

func (c Config) tlsProblem() *problem {
	switch {
	case c.TLS.Cert != "" && c.TLS.Key == "":
		return problemf("tls.cert", "tls.key is missing beside it")
	case c.TLS.Key != "" && c.TLS.Cert == "":
		return problemf("tls.key", "tls.cert is missing beside it")
	}
	return nil
}

func (c Config) logProblem() *problem {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		return problemf("log.level", "%.40q is none of debug, info, warn, error", c.Log.Level)
	}
	if !slices.Contains([]string{"text", "json"}, c.Log.Format) {
		return problemf("log.format", "%.40q is neither text nor json", c.Log.Format)
	}
	return nil
}

// problem checks every budget by its type, so that a new one is bounded from
// its first day: what counts must count something and what lasts must last at
// least the millisecond that a stored time can tell.
func (b Budgets) problem() *problem {
	least := map[string]int64{
		"active_bytes":             MinActiveBytes,
		"short_archive_importance": 0, // none is so unimportant
		"raw_bytes":                0, // summaries alone
		"embedding_rows":           0, // no vectors are kept
		"embedding_bytes":          0,
	}
	for _, f := range fieldsOf(&b) {
		key := "budgets." + f.key
		minimum, ok := least[f.key]
		if !ok {
			minimum = 1
		}
		switch v := f.value.Interface().(type) {
		case int:
			if int64(v) < minimum {
				return problemf(key, "%d is less than %d", v, minimum)
			}
		case int64:
			if v < minimum {
				return problemf(key, "%d bytes are less than %d", v, minimum)
			}
		case time.Duration:
			if v < time.Millisecond {
				return problemf(key, "%s is less than 1ms", v)
			}
		case float64:
			if !(v >= 0 && v <= 1) { // so that NaN fails
				return problemf(key, "%v is no share between 0 (none) and 1", v)
			}
		}
	}
	switch {
	case b.ShortArchiveImportance > 10:
		return problemf("budgets.short_archive_importance", "%d is more than 10", b.ShortArchiveImportance)
	case b.RawBytes > MaxRawBytes:
		return problemf("budgets.raw_bytes", "%d bytes are more than %d, the most that a request can carry", b.RawBytes, MaxRawBytes)
	case b.TransientTTL > MaxTransientTTL:
		return problemf("budgets.transient_ttl", "%s is more than %s", formatDuration(b.TransientTTL), formatDuration(MaxTransientTTL))
	}
	return nil
}

func (c Config) rootsProblem() *problem {
	for _, namespace := range slices.Sorted(maps.Keys(c.Roots)) {
		key := "roots." + namespace
		if !memd.ValidNamespace(namespace) {
			return problemf(key, "%.140q is no namespace", namespace)
		}
		if !filepath.IsAbs(c.Roots[namespace]) {
			return problemf(key, "the folder is not an absolute path")
		}
	}
	return nil
}

func (c Config) ownersProblem() *problem {
	for _, kind := range slices.Sorted(maps.Keys(c.Owners)) {
		key, owner := "owners."+kind, c.Owners[kind]
		if !memd.Kind(kind).Valid() {
			return problemf(key, "%.40q is no kind", kind)
		}
		if n := utf8.RuneCountInString(owner); strings.TrimSpace(owner) == "" || n > memd.MaxNameChars {
			return problemf(key, "an owner has 1 to %d characters", memd.MaxNameChars)
		}
	}
	return nil
}

// maxInstructionNames bounds the files that are looked for in each folder.
const maxInstructionNames = 16

func (c Config) instructionsProblem() *problem {
	const key = "instructions.names"
	if len(c.Instructions.Names) > maxInstructionNames {
		return problemf(key, "%d names are more than %d", len(c.Instructions.Names), maxInstructionNames)
	}
	for _, name := range c.Instructions.Names {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || strings.ContainsAny(name, "\\\x00") {
			return problemf(key, "%.80q is no name of a file below a folder, such as AGENTS.md or .agent/AGENT.md", name)
		}
	}
	return nil
}

func (c Config) groomProblem() *problem {
	if p := scheduleProblem("groom.schedule", c.Groom.Schedule); p != nil {
		return p
	}
	return scheduleProblem("groom.light", c.Groom.Light)
}

// scheduleProblem looks at a schedule; an empty one is never due.
func scheduleProblem(key, text string) *problem {
	if text == "" {
		return nil
	}
	if _, err := schedule.Parse(text); err != nil {
		return problemf(key, "%.80q %s", text, err)
	}
	return nil
}

func (c Config) backupProblem() *problem {
	if p := scheduleProblem("backup.schedule", c.Backup.Schedule); p != nil {
		return p
	}
	if c.Backup.Keep < 0 {
		return problemf("backup.keep", "%d is less than 0", c.Backup.Keep)
	}
	return nil
}

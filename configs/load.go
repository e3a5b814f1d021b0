package configs

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"memd"
)

// Options say where a configuration comes from.
type Options struct {
	// File is the --config flag. When it is empty MEMD_CONFIG names the file,
	// and else the default file is read if there is one.
	File string
	// Flags holds the values given on the command line by dotted key, such as
	// "tls.cert". Flags not given must be absent.
	Flags map[string]string
	// Env is the environment in the form of os.Environ; nil means the
	// process's own. An empty variable counts as unset.
	Env []string
}

// Loaded is a configuration with its history.
type Loaded struct {
	Config
	// Origin says for each dotted key where its value came from: "default",
	// "memd.yaml:12", "env MEMD_LISTEN" or "flag --listen". A key of a map
	// stands on its own ("roots.project/memd").
	Origin map[string]string
	// Warnings are for the operator to read; they do not prevent a start.
	Warnings []string
	// File is the path of the configuration file read, "" if none was.
	File string

	embeddingKey, selectorKey string
}

// FromDefault is the origin of a value that nobody set.
const FromDefault = "default"

// Entry is one line of an effective configuration.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Load folds defaults, file, environment and flags into one validated
// configuration. What it refuses is a memd.Error with CodeInvalidRequest whose
// Field is the key at fault and whose message begins with file and line,
// variable or flag.
func Load(o Options) (*Loaded, error) {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	l := newLoader(o.Env)
	path, err := l.loadFile(o.File)
	if err != nil {
		return nil, err
	}
	if err := l.loadEnv(); err != nil {
		return nil, err
	}
	if err := l.loadFlags(o.Flags); err != nil {
		return nil, err
	}
	if err := l.resolve(); err != nil {
		return nil, err
	}
	if p := l.config.problem(); p != nil {
		from, said := l.origins[p.key]
		if !said {
			from = l.origins[p.by]
		}
		return nil, l.refuse(p.key, from, p.text)
	}
	loaded := &Loaded{Config: l.config, Origin: map[string]string{}, File: path}
	for _, e := range l.entries() {
		loaded.Origin[e.Key] = e.Origin
	}
	loaded.Warnings = append(l.warnings, l.config.warnings()...)
	if e := l.config.Embedding; e.Provider == ProviderOpenAI {
		loaded.embeddingKey = loaded.key("embedding.key_env", e.KeyEnv, l.env)
	}
	if s := l.config.Selector; s.Provider == ProviderOpenAI {
		loaded.selectorKey = loaded.key("selector.key_env", s.KeyEnv, l.env)
	}
	return loaded, nil
}

// key reads a server's key from the variable name, if one is named, and warns
// where that is not set.
func (l *Loaded) key(setting, name string, env map[string]string) string {
	if name == "" {
		return ""
	}
	if env[name] == "" {
		l.Warnings = append(l.Warnings, setting+": "+name+" is not set; the server is asked without a key")
	}
	return env[name]
}

// Entries lists the effective configuration in the order of the struct. A map
// has an entry for each of its keys, in alphabetical order.
func (l *Loaded) Entries() []Entry {
	var list []Entry
	for _, f := range fieldsOf(&l.Config) {
		list = append(list, f.entries(func(key string) string { return l.Origin[key] })...)
	}
	return list
}

// origin is where a value came from. The zero origin is the default.
type origin struct {
	label string // for a listing: "memd.yaml:12"
	where string // for an error: "/etc/memd/memd.yaml:12"
	base  string // the folder a relative path is relative to, "" for the current one
}

// loader gathers a configuration from its sources, the weakest first.
type loader struct {
	env      map[string]string
	config   Config
	fields   []field // the leaves of config
	origins  map[string]origin
	warnings []string
}

func newLoader(environ []string) *loader {
	l := &loader{env: map[string]string{}, config: Defaults(), origins: map[string]origin{}}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			l.env[name] = value
		}
	}
	l.fields = fieldsOf(&l.config)
	return l
}

// field finds a leaf by its dotted key.
func (l *loader) field(key string) (field, bool) {
	i := slices.IndexFunc(l.fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return field{}, false
	}
	return l.fields[i], true
}

// set gives f the value that text stands for, and remembers who said so.
func (l *loader) set(f field, text string, from origin) error {
	if err := f.set(text); err != nil {
		return l.refuse(f.key, from, err.Error())
	}
	l.origins[f.key] = from
	return nil
}

// loadEnv applies the variables that name a key, and warns of the others that
// look like it, for they are misspelt more often than meant for someone else.
// Their values are not shown: one of them may be a token.
func (l *loader) loadEnv() error {
	known := map[string]bool{configVariable: true}
	for _, f := range l.fields {
		name := f.variable()
		known[name] = true
		if text, ok := l.env[name]; ok {
			if err := l.set(f, text, origin{label: "env " + name, where: name}); err != nil {
				return err
			}
		}
	}
	known[l.config.Embedding.KeyEnv], known[l.config.Selector.KeyEnv] = true, true
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		if strings.HasPrefix(name, "MEMD_") && !known[name] {
			l.warnings = append(l.warnings, fmt.Sprintf("the environment variable %s sets nothing: no such key", name))
		}
	}
	return nil
}

func (l *loader) loadFlags(flags map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		f, ok := l.field(key)
		if !ok {
			return l.refuse(key, origin{}, "no such key")
		}
		if err := l.set(f, flags[key], origin{label: "flag " + f.flag(), where: f.flag()}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) entries() []Entry {
	var list []Entry
	for _, f := range l.fields {
		list = append(list, f.entries(func(key string) string {
			if label := l.origins[key].label; label != "" {
				return label
			}
			return FromDefault
		})...)
	}
	return list
}

// refuse makes the error for a value of key that came from an origin. The
// zero origin leaves the key alone to name the place.
func (l *loader) refuse(key string, from origin, text string) *memd.Error {
	if key != "" {
		text = key + ": " + text
	}
	if from.where != "" {
		text = from.where + ": " + text
	}
	return &memd.Error{
		Code:    memd.CodeInvalidRequest,
		Field:   key,
		Message: text,
		Hint:    "`memd config` lists every key, its value and where the value came from",
	}
}

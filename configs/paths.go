package configs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memd"
)

// configVariable names the configuration file; it is no key of its own.
const configVariable = "MEMD_CONFIG"

// base returns a folder of the XDG base directory specification: the
// variable's, which counts only when absolute, else one below the home
// folder; "" where neither is known.
func (l *loader) base(variable string, below ...string) string {
	if dir := l.env[variable]; filepath.IsAbs(dir) {
		return dir
	}
	home := l.env["HOME"]
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(append([]string{home}, below...)...)
}

func (l *loader) defaultFile() string {
	dir := l.base("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "memd", "memd.yaml")
}

// resolve settles what depends on the environment and on where a value was
// said: the default data folder, "~/" and relative paths; and schedules that are
// switched off.
func (l *loader) resolve() error {
	c := &l.config
	if c.Dir == "" {
		data := l.base("XDG_DATA_HOME", ".local", "share")
		if data == "" {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "dir",
				"dir: no data folder is named, and without HOME there is no default").
				WithHint("set --dir or MEMD_DIR")
		}
		c.Dir = filepath.Join(data, "memd")
	}
	for key, path := range map[string]*string{"dir": &c.Dir, "tls.cert": &c.TLS.Cert, "tls.key": &c.TLS.Key} {
		if *path == "" {
			continue
		}
		var err error
		if *path, err = l.absolute(*path, l.origins[key].base); err != nil {
			return err
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.Roots)) {
		if root := l.expand(c.Roots[namespace]); filepath.IsAbs(root) {
			c.Roots[namespace] = filepath.Clean(root)
		}
	}
	for i, host := range c.Hosts {
		c.Hosts[i] = strings.ToLower(host)
	}
	for _, schedule := range []*string{&c.Groom.Schedule, &c.Groom.Light, &c.Backup.Schedule} {
		if *schedule == ScheduleOff {
			*schedule = ""
		}
	}
	return nil
}

// absolute makes path absolute and clean. A relative path in a file starts
// at the file, any other where the command was given.
func (l *loader) absolute(path, base string) (string, error) {
	path = l.expand(path)
	if !filepath.IsAbs(path) && base != "" {
		path = filepath.Join(base, path)
	}
	return filepath.Abs(path)
}

// expand puts the home folder in place of a leading "~/", which no shell does
// in a file: a folder named "~" is nobody's wish.
func (l *loader) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && l.env["HOME"] != "" {
		return filepath.Join(l.env["HOME"], rest)
	}
	return path
}

// Folder returns the absolute folder that an environment variable names, "" where it
// names none. By such variables other programs are told where their files are.
func Folder(variable string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return ""
}

package artefacts

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds on what git is asked.
const (
	gitTimeout = 20 * time.Second // for a file
	gitTotal   = 2 * time.Minute  // for all
	maxBlame   = 64 << 20         // bytes of an answer
)

// dates tells when lines of files were committed. Where git cannot tell, or nobody
// committed them yet, it knows nothing, which is no error.
type dates struct {
	top   string                      // the working tree
	known map[string]map[string]int64 // by file and line, in seconds

	looked bool // at the configuration
	barred bool // it has git read what it should not
}

// of is when the newest of some lines of a file was committed; the file's name is
// relative to the working tree. It is zero where one of them never was.
func (d *dates) of(ctx context.Context, name string, lines []string) (newest time.Time) {
	known, asked := d.known[name]
	if !asked {
		known = d.ask(ctx, name)
		d.known[name] = known
	}
	for _, line := range lines {
		if line = strings.TrimRight(line, " \t\r\n"); !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		seconds, ok := known[line]
		if !ok {
			return time.Time{}
		}
		if at := time.Unix(seconds, 0); at.After(newest) {
			newest = at
		}
	}
	return newest
}

// ask has git tell of each line of a file, as it was last committed, when that was.
//
// A repository may be another's, and its configuration can name programs to run: for
// the files of a working tree (filters, a monitor of the file system), for showing
// (conversions, a pager), and for fetching what it lacks. So git is asked about the
// commit and not the files, converts nothing, may use no protocol, and takes no
// configuration or place from the environment. The check that the repository is the
// user's own is git's.
func (d *dates) ask(ctx context.Context, name string) map[string]int64 {
	if _, err := os.Lstat(filepath.Join(d.top, ".git")); err != nil || ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	if !d.looked {
		d.looked, d.barred = true, !d.harmless(ctx)
	}
	if d.barred {
		return nil
	}
	out, err := d.git(ctx, "blame", "--porcelain", "--no-textconv", "HEAD", "--", name)
	if err != nil {
		return nil
	}
	return parseBlame(out)
}

// harmless reports whether the files that git reads beside a blame, by the names in
// the configuration, are such as people write: it reads them into memory, whole.
func (d *dates) harmless(ctx context.Context) bool {
	for _, key := range []string{"blame.ignoreRevsFile", "mailmap.file"} {
		out, err := d.git(ctx, "config", "--type=path", "-z", "--get-all", key)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 { // it is not set
			continue
		}
		if err != nil {
			return false
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if name == "" {
				continue
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(d.top, name)
			}
			if info, err := os.Stat(name); err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
				return false
			}
		}
	}
	return true
}

// git is what git answers to a question about the working tree.
func (d *dates) git(ctx context.Context, question ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "--literal-pathspecs",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "protocol.allow=never", "-c", "credential.helper=", "-c", "core.sshCommand=false"}, question...)...)
	cmd.Dir = d.top
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), "GIT_") }),
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(d.top), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	var out bounded
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	if out.over {
		return nil, bytes.ErrTooLarge
	}
	return out.Bytes(), nil
}

// bounded keeps as much as maxBlame.
type bounded struct {
	bytes.Buffer
	over bool
}

// Write takes everything, so that who writes ends.
func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.Len()+len(p) > maxBlame; b.over {
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// parseBlame reads the porcelain form of git blame: for each line of the file its
// commit, which is described the first time it is named, and the text behind a tab. Of
// equal lines the newest counts.
func parseBlame(out []byte) map[string]int64 {
	lines := map[string]int64{}
	commits := map[string]int64{}
	commit := ""
	for raw := range bytes.Lines(out) {
		line := strings.TrimRight(string(raw), "\r\n")
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			if at, known := commits[commit]; known {
				text = strings.TrimRight(strings.TrimPrefix(text, "\ufeff"), " \t\r")
				lines[text] = max(lines[text], at)
			}
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		switch {
		case name == "committer-time":
			if at, err := strconv.ParseInt(value, 10, 64); err == nil && at > 0 {
				commits[commit] = at
			}
		case len(name) >= 40 && strings.Trim(name, "0123456789abcdef") == "":
			commit = name
		}
	}
	return lines
}

package store_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"memd"
	"memd/store"
)

var everyFault = flag.Bool("store.faults", false, "meet every fault at every step, not one of them in turn")

// fault is something that goes wrong with the disk of a store.
type fault struct {
	user  bool // whether only another user than root meets it
	small bool // whether the disk must be a small one
	begin func(dir string) error
	end   func(dir string) error
}

// faults are by the names under which a child is told of them. In the first
// three no file can be written beyond a size, so that a write is refused, or
// ends in the middle of the journal's second page, or of a database.
func faults() map[string]fault {
	return map[string]fault{
		"refused writes":  {begin: limit(0), end: limit(-1)},
		"short journals":  {begin: limit(5001), end: limit(-1)},
		"short databases": {begin: limit(60_001), end: limit(-1)},
		"read-only folders": {user: true,
			begin: func(dir string) error { return chmod(dir, 0o500) },
			end:   func(dir string) error { return chmod(dir, 0o700) }},
		"read-only history": {user: true,
			begin: func(dir string) error { return chmod(filepath.Join(dir, store.HistoryDir), 0o500) },
			end:   func(dir string) error { return chmod(filepath.Join(dir, store.HistoryDir), 0o700) }},
		"full disk": {small: true, begin: fill, end: func(dir string) error { return os.Remove(ballast(dir)) }},
	}
}

// limit makes a file of this process end at n bytes; negative: no more.
func limit(n int64) func(string) error {
	return func(string) error {
		signal.Ignore(syscall.SIGXFSZ)
		var r syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
			return err
		}
		if r.Cur = r.Max; n >= 0 {
			r.Cur = uint64(n)
		}
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r)
	}
}

// chmod changes the mode of a folder and of the one of historical databases.
func chmod(dir string, mode os.FileMode) error {
	if history := filepath.Join(dir, store.HistoryDir); exists(history) {
		if err := os.Chmod(history, mode); err != nil {
			return err
		}
	}
	return os.Chmod(dir, mode)
}

// ballast is what fills the disk, beside the data folder.
func ballast(dir string) string { return filepath.Join(filepath.Dir(dir), "ballast") }

func fill(dir string) error {
	f, err := os.Create(ballast(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	for piece := make([]byte, 4096); ; {
		if _, err := f.Write(piece); err != nil {
			return nil // full
		}
	}
}

// childT reports what a test's helpers find to the parent.
type childT struct{ testing.TB }

func (childT) Helper() {}

func (childT) Errorf(format string, args ...any) { fmt.Printf("wrong: "+format+"\n", args...) }

func (c childT) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	os.Exit(4)
}

// meetFault is the child: a fault begins at a step of a plot. It dies before
// the fault ends, or goes on after it with the same store: it writes, serves
// and does the plot again.
func meetFault(dir, step, plotName, faultName string, dies bool) error {
	f, ok := faults()[strings.ReplaceAll(faultName, "_", " ")]
	if !ok {
		return fmt.Errorf("there is no fault %q", faultName)
	}
	listen := numbered(func(reached string) {
		if reached == step {
			if err := f.begin(dir); err != nil {
				fmt.Println("wrong: no fault:", err)
			}
		}
	})
	p, s, armed, err := openPlot(dir, plotName, listen)
	if err == nil {
		listen("plot/begin")
		err = p.act(store.WithSteps(ctx, listen), s)
	}
	fmt.Println("first:", outcome(err))
	if dies {
		tell("", "")
	}
	armed.Store(false)
	if err := f.end(dir); err != nil {
		fmt.Println("wrong: the fault does not end:", err)
	}
	if s == nil { // a start that was refused is tried again
		if p, s, _, err = openPlot(dir, plotName, func(string) {}); err != nil {
			return err
		}
	}
	t := childT{}
	put(t, s, row(memd.Short, 90, "common row 90"))
	for line := range strings.Lines(served(t, s) + "\n") {
		fmt.Print("served ", line)
	}
	fmt.Println("second:", outcome(p.act(ctx, s)))
	for line := range strings.Lines(served(t, s) + "\n") {
		fmt.Print("serves ", line)
	}
	healthy(t, s)
	return s.Close()
}

// outcome is an error in one line.
func outcome(err error) string {
	if err == nil {
		return "done"
	}
	return strings.ReplaceAll(fmt.Sprint(err, " (", memd.CodeOf(err), ")"), "\n", "; ")
}

// With every write refused, or cut short, with folders that cannot be changed
// and on a full disk, from any step of whatever it does on, a store loses
// nothing that it acknowledged, and goes on once the fault has ended, or at the
// next start.
func TestFaults(t *testing.T) {
	base := t.TempDir()
	aged(t, base)
	all := faults()
	var faultNames []string
	for name, f := range all {
		if f.small && !mayMount(t) {
			t.Log("not met, since this user may not mount a small disk:", name)
			continue
		}
		faultNames = append(faultNames, name)
	}
	slices.Sort(faultNames)
	turn := 0
	for _, name := range slices.Sorted(maps.Keys(plots())) {
		p := plots()[name]
		from, before, after, told := p.set(t, name, base)
		for _, step := range told {
			if n, _ := strconv.Atoi(strings.TrimPrefix(step, stepName(step)+"#")); n > 3 {
				continue
			}
			for i, faultName := range faultNames {
				for j, end := range []string{"stay", "die"} {
					if turn++; !*everyFault && turn%(2*len(faultNames)+1) != 2*i+j {
						continue
					}
					words := []string{"fault", step, name, faultName, end}
					t.Run(strings.ReplaceAll(strings.Join(words[1:], " "), "/", "_"), func(t *testing.T) {
						t.Parallel()
						p.meet(t, all[faultName], from, before, after, words)
					})
				}
			}
		}
	}
}

// meet lets a child meet a fault and judges what it said and left.
func (p plot) meet(t *testing.T, f fault, from, before, after string, words []string) {
	dir := filepath.Join(t.TempDir(), "data")
	if f.small {
		mount(t, filepath.Dir(dir))
	}
	must(t, os.CopyFS(dir, os.DirFS(from)))
	must(t, os.Chmod(dir, 0o700))
	words[3] = strings.ReplaceAll(words[3], " ", "_")
	cmd := exec.Command("/proc/self/exe", "-store.in="+dir, "-store.doomed="+strings.Join(words, " "))
	if f.user && os.Getuid() == 0 {
		giveAway(t, dir, cmd)
	}
	release := func() {}
	if p.held {
		release = lockingShell(t, dir, `BEGIN; SELECT count(*) FROM short;`)
	}
	out, err := cmd.CombinedOutput()
	release()
	said := string(out)
	if killed := cmd.ProcessState.ExitCode() < 0; killed != (words[4] == "die") || !killed && err != nil || strings.Contains(said, "wrong:") {
		t.Errorf("the child ended with %v:\n%s", err, said)
	}
	must(t, f.over(dir))
	held := intact(t, dir, p.budgets)
	onlyParts(t, dir)
	rows := strings.Split(held, "\n")
	got := strings.Join(slices.DeleteFunc(rows, func(row string) bool { return strings.Contains(row, "common row 90") }), "\n")
	acknowledged := strings.Contains(said, "first: done") || strings.Contains(said, "second: done")
	if got != after && (acknowledged || got != before) {
		t.Errorf("the store holds\n%s\nbefore it held\n%s\nand after it\n%s\nthe child said\n%s", got, before, after, said)
	}
	if words[4] == "die" {
		return
	}
	if !strings.Contains(said, "second: done") || got == held {
		t.Errorf("after the fault it does not go on:\n%s", said)
	}
	late := "short|" + row(memd.Short, 90, "").ID
	if got := behind(said, "served "); got != liveIn(before+"\n"+late) && got != liveIn(after+"\n"+late) {
		t.Errorf("after the fault it serves\n%s\nthe child said\n%s", got, said)
	}
	if got, want := behind(said, "serves "), liveIn(held); got != want {
		t.Errorf("before a restart it serves\n%s\nwant\n%s", got, want)
	}
}

// behind are the rests of the lines that begin so.
func behind(said, prefix string) string {
	var rests []string
	for line := range strings.Lines(said) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			rests = append(rests, rest)
		}
	}
	return strings.Join(rests, "\n")
}

// over ends a fault whose child has died.
func (f fault) over(dir string) error {
	switch {
	case f.user:
		return chmod(dir, 0o700)
	case f.small:
		return os.RemoveAll(ballast(dir))
	}
	return nil
}

// giveAway gives a folder to nobody, as whom cmd will run.
func giveAway(t *testing.T, dir string, cmd *exec.Cmd) {
	t.Helper()
	const nobody = 65534
	must(t, filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	}))
	for up := filepath.Dir(dir); len(up) > len(os.TempDir()); up = filepath.Dir(up) {
		must(t, os.Chmod(up, 0o755))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// mount puts a small disk at path for the time of the test.
func mount(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12m", "memd-test", path).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", path).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
}

// mayMount reports whether this user may mount a disk.
func mayMount(t *testing.T) bool {
	path := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "memd-test", path).Run() != nil {
		return false
	}
	return exec.Command("umount", path).Run() == nil
}

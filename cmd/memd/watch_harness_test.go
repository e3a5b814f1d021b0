package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/exchange/notes"
)

// watcher is a running memd watch on a folder of notes beside the data folder.
type watcher struct {
	*daemon
	dir string
	out record // complete when done is closed, as is log, its stderr
}

// folder is the folder of notes of a box, which it makes.
func (b *box) folder() string {
	b.t.Helper()
	dir := filepath.Join(filepath.Dir(b.dir), "notes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// watch watches the folder, for the namespace user, until both sides are the same.
func (b *box) watch(args ...string) *watcher {
	b.t.Helper()
	w := &watcher{dir: b.folder()}
	cmd := b.command(append([]string{"watch", w.dir, "--namespace", "user", "--every", "100ms"}, args...)...)
	w.daemon = &daemon{box: b, cmd: cmd, done: make(chan struct{})}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			w.out.WriteString(lines.Text() + "\n")
		}
	}()
	began := make(chan struct{})
	go func() {
		defer close(w.done)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			w.log.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "memd: watching ") {
				close(began)
			}
		}
		<-read
		_ = cmd.Wait()
	}()
	b.t.Cleanup(w.kill)
	select {
	case <-began:
	case <-w.done:
		b.t.Fatalf("memd watch ended before it watched: %s", w.log.String())
	case <-time.After(patience):
		b.t.Fatalf("memd watch does not watch: %s", w.log.String())
	}
	return w
}

// says waits until a line of stdout holds a text.
func (w *watcher) says(text string) {
	w.box.t.Helper()
	eventually(w.box.t, text, func() bool { return strings.Contains(w.out.String(), text) })
}

// rest are so many looks at the log, ten a second, that a folder is left alone for long
// enough in between to be told of.
const rest = 12

// looks waits until it has asked for the log so many times more, so that whatever was
// due has been done.
func (w *watcher) looks(n int) {
	w.box.t.Helper()
	from := w.box.asked("/v1/log")
	eventually(w.box.t, "looks at the log", func() bool { return w.box.asked("/v1/log") >= from+n })
}

// asked is how many requests the daemon has answered at a route.
func (b *box) asked(route string) (n int) {
	b.t.Helper()
	socket := http.Client{Transport: client.Unix(b.socket())}
	defer socket.CloseIdleConnections()
	res, err := socket.Get("http://localhost/metrics")
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^memd_http_requests_total\{.*route="`+route+`".*\} (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		count, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			b.t.Fatal(err)
		}
		n += int(count)
	}
	return n
}

// save saves a file as an editor does: under another name first, then renamed.
func save(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	temporary := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".swp")
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, file); err != nil {
		t.Fatal(err)
	}
}

// aNote is a note as a person writes it.
func aNote(name, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: about %s\ntype: user\n---\n%s\n", name, name, body)
}

// path is the file of a note.
func (w *watcher) path(name string) string { return filepath.Join(w.dir, name+".md") }

// edit changes the body of a note as a person does, who leaves the rest.
func (w *watcher) edit(name, body string) { editNote(w.box.t, w.path(name), name, body) }

func editNote(t testing.TB, file, name, body string) {
	t.Helper()
	text := aNote(name, body)
	if old, err := os.ReadFile(file); err == nil {
		end := strings.LastIndex(string(old), "\n---\n")
		text = string(old)[:end+5] + body + "\n"
	}
	save(t, file, text)
}

// inFile is the body of a note's file, "" for none.
func inFile(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	n, err := notes.Parse(f, "")
	if err != nil {
		return ""
	}
	return n.Body
}

// inStore is the body of a memory, "" for none. It counts no access.
func (b *box) inStore(name string) string {
	b.t.Helper()
	c := client.New(client.Unix(b.socket()))
	defer c.Close() // it is asked again and again
	page, err := c.List(b.t.Context(), memd.List{Tier: memd.Long, Namespace: "user", MemoryKey: name, IncludeRaw: true})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(page.Value.Memories) == 0 {
		return ""
	}
	return page.Value.Memories[0].RawContent
}

// write writes a memory by REST, over its head, which keeps its source.
func (b *box) write(name, body string) {
	b.t.Helper()
	c, source := b.client(), "user"
	head, err := c.Head(b.t.Context(), "user", name)
	if err == nil {
		source = head.Value.Source
	}
	if _, err := c.RememberLongTerm(b.t.Context(), memd.RememberLongTerm{
		MemoryKey: name, Summary: "about " + name, Source: source, Kind: memd.User, RawContent: body, Namespace: "user",
	}); err != nil {
		b.t.Fatal(err)
	}
}

// both waits until a note says the same on both sides.
func (w *watcher) both(name, body string) {
	w.box.t.Helper()
	eventually(w.box.t, name+" says "+body+" on both sides", func() bool {
		return inFile(w.path(name)) == body && w.box.inStore(name) == body
	})
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/internal/project"
)

// In the home folder, which is no project, that of the client's root is the session's,
// unless --project says that there is none.
func TestMCPRoots(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	folder := filepath.Join(t.TempDir(), "widgets")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := project.ID(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	greeting := strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1)
	for flag, want := range map[string]string{"": "project/" + id, "--project=": memd.DefaultNamespace} {
		t.Run(flag, func(t *testing.T) {
			cmd := b.command(strings.Fields("mcp " + flag)...)
			cmd.Dir = home
			b.endsDaemon()
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, greeting); err != nil {
				t.Fatal(err)
			}
			begun, got := false, ""
			for lines := bufio.NewScanner(out); got == "" && lines.Scan(); {
				var l struct {
					ID     json.RawMessage
					Method string
					Result struct{ StructuredContent memd.Written }
				}
				if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
					t.Fatal(err)
				}
				switch {
				case l.Method == "roots/list":
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file://%s"},{"uri":"file://%s"}]}}`+"\n", l.ID, home, filepath.ToSlash(folder))
				case string(l.ID) == "9":
					got = l.Result.StructuredContent.Namespace
				}
				// Behind its roots, however fast the machine is.
				if !begun && (l.Method == "roots/list" || flag != "") {
					begun = true
					fmt.Fprintln(in, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"remember","arguments":{"summary":"of a root"}}}`)
				}
			}
			_ = in.Close()
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err != nil || got != want {
				t.Errorf("written to %q, want %s (%v)", got, want, err)
			}
		})
	}
}

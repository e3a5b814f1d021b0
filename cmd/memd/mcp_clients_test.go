package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var clientsDir = flag.String("mcp.clients", "", "the folder of .ci/clients with its packages, for TestMCPClients")

// clients are the clients of others, installed in a folder.
type clients struct {
	*box
	dir  string
	node string
}

// clientTime bounds a run of one of them.
const clientTime = 2 * time.Minute

func (b *box) clients() *clients {
	b.t.Helper()
	if *clientsDir == "" {
		b.t.Skip("needs the clients of .ci/clients: see .ci/mcp")
	}
	c := &clients{box: b, dir: *clientsDir}
	found, err := filepath.Glob(filepath.Join(c.dir, "node_modules", "node-*", "bin", "node"))
	if err != nil {
		b.t.Fatal(err)
	}
	c.node = append(found, "node")[0] // the machine's own, where none is among the packages
	return c
}

// run runs a program of the folder in the box and returns what it printed.
func (c *clients) run(token, program string, args ...string) result {
	c.t.Helper()
	cmd := exec.Command(c.node, append([]string{filepath.Join(c.dir, program)}, args...)...)
	cmd.Dir = filepath.Dir(c.box.dir)
	cmd.Env = append(append([]string{}, c.env...), "TOKEN="+token, "NO_COLOR=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	stuck := time.AfterFunc(clientTime, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	_ = cmd.Run() // its exit code tells
	if cmd.ProcessState == nil {
		c.t.Fatalf("%s does not run", c.node)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Clients that nobody here wrote: the official TypeScript client, the command line of
// the official inspector, and the official conformance scenarios.
func TestMCPClients(t *testing.T) {
	b := newBox(t)
	c := b.clients()
	d := b.serve()
	token, address := b.adminToken(), "http://"+d.tcp+"/mcp"
	stdio := []string{os.Getenv(binaryVariable), "mcp", "--project="}

	t.Run("TypeScript over stdio", func(t *testing.T) { c.walk(t, append([]string{"stdio"}, stdio...)...) })
	t.Run("TypeScript over HTTP", func(t *testing.T) { c.walk(t, "http", address) })
	t.Run("inspector over stdio", func(t *testing.T) { c.inspect(t, stdio...) })
	t.Run("inspector over HTTP", func(t *testing.T) {
		c.inspect(t, address, "--transport", "http", "--header", "Authorization: Bearer "+token)
	})
	t.Run("conformance", func(t *testing.T) { c.conform(t, d.tcp, token) })
	d.stop()
	for _, secret := range []string{token, "kumquat"} {
		if strings.Contains(d.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

func (c *clients) walk(t *testing.T, args ...string) {
	if r := c.run(c.adminToken(), "walk.mjs", args...); r.code != 0 {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	} else {
		t.Log(strings.TrimSpace(r.out))
	}
}

// inspect lists and calls with the inspector, which ends with 5 where a tool refuses.
func (c *clients) inspect(t *testing.T, target ...string) {
	const inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	run := func(code int, into any, args ...string) {
		t.Helper()
		r := c.run("", inspector, append(append([]string{"--cli"}, target...), args...)...)
		if r.code != code {
			t.Fatalf("%q: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
		if strings.Contains(r.err, "Warning") {
			t.Errorf("%q: %s", args, r.err)
		}
		if err := json.Unmarshal([]byte(r.out), into); err != nil {
			t.Fatalf("%q: %v: %s", args, err, r.out)
		}
	}
	var listed struct{ Tools, Resources, ResourceTemplates, Prompts []json.RawMessage }
	run(0, &listed, "--method", "tools/list", "--strict")
	run(0, &listed, "--method", "resources/list")
	run(0, &listed, "--method", "resources/templates/list")
	run(0, &listed, "--method", "prompts/list")
	if len(listed.Tools) != 10 || len(listed.Resources) != 1 || len(listed.ResourceTemplates) != 3 || len(listed.Prompts) != 3 {
		t.Errorf("%d tools, %d resources, %d templates, %d prompts", len(listed.Tools), len(listed.Resources), len(listed.ResourceTemplates), len(listed.Prompts))
	}
	type called struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent struct {
			ID, Code string
			Tags     []string
		}
	}
	call := func(code int, tool string, args ...string) (got called) {
		t.Helper()
		all := []string{"--method", "tools/call", "--tool-name", tool}
		for _, a := range args {
			all = append(all, "--tool-arg", a)
		}
		run(code, &got, all...)
		return got
	}
	w := call(0, "remember", "summary=The inspector was here", `tags=["walk"]`)
	if w.StructuredContent.ID == "" || len(w.StructuredContent.Tags) != 1 {
		t.Errorf("remember answers %+v", w)
	}
	for tool, arg := range map[string]string{"recall": "query=inspector", "context": "query=inspector", "get": "id=" + w.StructuredContent.ID, "list": "tag=walk"} {
		if got := call(0, tool, arg); got.IsError || !strings.Contains(got.Content[0].Text, "The inspector was here") {
			t.Errorf("%s answers %+v", tool, got)
		}
	}
	if got := call(5, "recall"); !got.IsError || got.StructuredContent.Code != "missing_field" {
		t.Errorf("recall without a query answers %+v", got)
	}
	call(0, "forget", "id="+w.StructuredContent.ID)
	var read struct{ Contents []struct{ Text string } }
	if run(0, &read, "--method", "resources/read", "--uri", "memd://context/none"); len(read.Contents) != 1 {
		t.Errorf("a context reads %+v", read)
	}
	var prompt struct{ Messages []json.RawMessage }
	if run(0, &prompt, "--method", "prompts/get", "--prompt-name", "recall-before-work", "--prompt-args", "task=walk"); len(prompt.Messages) != 1 {
		t.Errorf("a prompt says %+v", prompt)
	}
}

// conform runs the scenarios that do not ask for the suite's own tools. It knows of no
// tokens, so that a proxy adds one and changes nothing else.
func (c *clients) conform(t *testing.T, tcp, token string) {
	to := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", tcp, r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// net/http closes the body of a request when its answer begins, which may be
		// before the other end of the proxy has met the end of it: that cuts the answer.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		to.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	for _, scenario := range []string{
		"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "server-sse-multiple-streams",
	} {
		t.Run(scenario, func(t *testing.T) {
			r := c.run("", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", proxy.URL+"/mcp", "--scenario", scenario)
			if r.code != 0 {
				t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
			}
		})
	}
}

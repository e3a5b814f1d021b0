package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/internal/dirlock"
)

// While another process has the folder a command waits as long as --wait says.
func TestLockWait(t *testing.T) {
	b := newBox(t)
	lock, err := dirlock.Acquire(context.Background(), b.dir, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []string{"0s", "200ms"} {
		began := time.Now()
		r := b.run("list", "--wait", wait)
		if r.code != memd.ExitBusy || !strings.Contains(r.err, fmt.Sprint(os.Getpid())) {
			t.Errorf("--wait %s: exit code %d: %s", wait, r.code, r.err)
		}
		if least, _ := time.ParseDuration(wait); time.Since(began) < least {
			t.Errorf("--wait %s: gave up after %s", wait, time.Since(began))
		}
	}
	patient := make(chan result, 1)
	go func() { patient <- b.run("remember", "patience", "--wait", patience.String()) }()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if r := <-patient; r.code != 0 {
		t.Errorf("the lock came free, yet exit code %d: %s", r.code, r.err)
	}
}

// A command that waits for the folder sees a daemon that comes up meanwhile.
func TestWaitForDaemon(t *testing.T) {
	b := newBox(t)
	lock, err := dirlock.Acquire(context.Background(), b.dir, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	patient := make(chan result, 1)
	go func() { patient <- b.run("stats", "--json", "--wait", patience.String()) }()
	// This process has the folder; now it answers on the socket too.
	socket, err := net.Listen("unix", b.socket())
	if err != nil {
		t.Fatal(err)
	}
	daemon := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"embedder":{"name":"%s"}}`, strings.TrimPrefix(r.URL.Path, "/v1/"))
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = daemon.Serve(socket) }()
	if r := <-patient; r.code != 0 || r.out != `{"embedder":{"name":"stats"}}`+"\n" {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	_ = daemon.Close()
	<-served
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// Commands without a daemon take turns.
func TestCommandsTakeTurns(t *testing.T) {
	b := newBox(t)
	var commands sync.WaitGroup
	for i := range 8 {
		commands.Go(func() {
			r := b.run("remember", fmt.Sprintf("one of eight, number %d", i), "--wait", patience.String())
			if r.code != 0 {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
		})
	}
	commands.Wait()
	if n := strings.Count(b.must("list", "--json"), `"id":`); n != 8 {
		t.Errorf("%d of 8 writes are there", n)
	}
}

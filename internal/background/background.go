// Package background starts the daemon of a data folder when somebody wants to
// speak to it and none runs.
package background

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"memd"
	"memd/internal/dirlock"
)

const (
	// startTimeout bounds the wait for a daemon that starts. It may go on
	// starting for longer, such as while it migrates a large store.
	startTimeout = 30 * time.Second
	// poll is how often a wanted daemon is looked for.
	poll = 20 * time.Millisecond
)

// Options say which daemon, and how it is started.
type Options struct {
	Dir            string   // the data folder, absolute
	Command        []string // the program and its arguments; nil: none is started
	Wait           time.Duration
	AllowNetworkFS bool
}

// Daemon is the daemon of a data folder, which need not run. It is safe for
// concurrent use, by several processes too: one of the daemons that they start
// takes the folder, and all speak to it.
type Daemon struct {
	Options
	turn chan struct{} // held by who starts one
}

// New makes a Daemon. It starts nothing yet.
func New(o Options) *Daemon { return &Daemon{Options: o, turn: make(chan struct{}, 1)} }

// Dial connects to the daemon's socket, and starts a daemon before that where none
// runs. While another process has the folder without listening it looks again
// until Options.Wait has passed. Failures are memd.Errors, but for the end of ctx.
func (d *Daemon) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := d.connect(ctx)
	if !absent(err) {
		return conn, err
	}
	if d.Command == nil {
		return nil, memd.Errorf(memd.CodeStoreBusy, "no daemon runs on %s", d.Dir).WithHint("start one: memd serve --dir %s", d.Dir)
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, d.slow())
	defer cancel()
	return d.raise(ctx)
}

// raise has a daemon run and connects to it.
func (d *Daemon) raise(ctx context.Context) (net.Conn, error) {
	patience, again := time.NewTimer(d.Wait), time.NewTicker(poll)
	defer patience.Stop()
	defer again.Stop()
	var ended <-chan int // the exit code of the daemon that was started, nil for none
	var held error       // who has the folder, where that is somebody else
	for {
		conn, err := d.connect(ctx)
		if !absent(err) {
			return conn, err
		}
		if ended == nil {
			ended, err = d.start(ctx)
			if _, busy := errors.AsType[*dirlock.HeldError](err); err != nil && !busy {
				return nil, err
			}
			held = err
		}
		select {
		case code := <-ended:
			ended = nil // one that left at once, or found the folder taken, is no failure
			if code != memd.ExitDone && code != memd.ExitBusy {
				return nil, d.failed(fmt.Errorf("exit code %d", code))
			}
		case <-patience.C:
			if held != nil {
				return nil, held
			}
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// connect connects to a daemon that runs.
func (d *Daemon) connect(ctx context.Context) (net.Conn, error) {
	socket := filepath.Join(d.Dir, dirlock.SocketName)
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	switch {
	case err == nil || absent(err):
		return conn, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, syscall.EAGAIN):
		return nil, memd.Errorf(memd.CodeStoreBusy, "too many clients wait for the daemon").WithHint("try again")
	}
	return nil, &memd.Error{
		Code: memd.CodeStoreFailed, Message: "the socket " + socket + " cannot be opened", Err: err,
		Hint: "the socket is its owner's alone, unless socket.peers says who else may use it",
	}
}

// absent reports whether err, of connect, says that nobody listens.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// start starts a daemon in a session of its own, so that it outlives this process
// and what ends its terminal. It returns where the exit code will be told; a
// *dirlock.HeldError where another process has the folder, in which a daemon
// could not start.
func (d *Daemon) start(ctx context.Context) (ended <-chan int, err error) {
	// Who holds the folder puts the log aside alone, and what is wrong with the
	// folder is told from here.
	lock, err := dirlock.Acquire(ctx, d.Dir, 0, dirlock.Options{AllowNetworkFS: d.AllowNetworkFS})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	log, err := openLog(d.Dir)
	if err := errors.Join(err, lock.Release()); err != nil {
		return nil, d.failed(err)
	}
	defer log.Close()
	cmd := exec.Command(d.Command[0], d.Command[1:]...)
	cmd.Dir = d.Dir // not the folder of whoever happens to be first
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return nil, d.failed(err)
	}
	codes := make(chan int, 1)
	go func() {
		_ = cmd.Wait() // the code is told
		codes <- cmd.ProcessState.ExitCode()
	}()
	return codes, nil
}

// failed says that no daemon can be started.
func (d *Daemon) failed(why error) error {
	return &memd.Error{
		Code: memd.CodeStoreFailed, Message: "the daemon cannot be started", Err: why,
		Hint: fmt.Sprintf("%s says why, as does `memd serve`", filepath.Join(d.Dir, LogName)),
	}
}

// slow says that a daemon takes its time.
func (d *Daemon) slow() error {
	return memd.Errorf(memd.CodeStoreBusy, "the daemon is still starting").
		WithHint("try again in a while; %s says what it does", filepath.Join(d.Dir, LogName))
}

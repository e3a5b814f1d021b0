package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"memd"
)

// untilSignal returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP. A second one ends the process, whatever still runs: the store
// survives it. The caller must call stop when nothing is left to interrupt.
func untilSignal(parent context.Context, log *slog.Logger) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for first := true; ; first = false {
			var got os.Signal
			select {
			case <-done:
				return
			case got = <-signals:
			}
			if !first {
				log.Warn("memd ends at once", "signal", signalName(got))
				os.Exit(memd.ExitFailed)
			}
			log.Info("memd drains", "signal", signalName(got))
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-ended
		cancel()
	}
}

// signalName is a signal's name as kill(1) takes it.
func signalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

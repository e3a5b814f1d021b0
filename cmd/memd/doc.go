// Command memd is the memory daemon and its command line.
//
// Every command but the few that only read configuration speaks to the same
// HTTP interface: over the unix socket where a daemon runs, else straight into
// a handler that this process opens over the store. There is no second way in,
// so a command answers alike with and without a daemon.
//
// The files: main.go and root.go parse; reach.go finds the daemon or opens
// the store; app.go wires the parts; daemon.go runs them; each command has a
// file of its own; input.go, output.go and diagnose.go are what commands share.
package main

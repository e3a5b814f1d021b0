package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memd"
)

// exitError ends the run with a code and without a word: what there was to
// say has been printed.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usage makes err, found while the command line was read, a usage error.
func usage(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[*memd.Error](err); ok {
		return err
	}
	if dashed(err) {
		return memd.Errorf(memd.CodeInvalidRequest, "a text that begins with a dash was taken for a flag").
			WithHint("put -- before it: %s -- TEXT", cmd.CommandPath())
	}
	return memd.Errorf(memd.CodeInvalidRequest, "%s", strings.TrimSpace(err.Error())).
		WithHint("`%s --help` shows how it is used", cmd.CommandPath())
}

// flagName is what the name of a flag looks like.
var flagName = regexp.MustCompile(`^[a-z][a-z-]{0,30}$`)

// dashed reports whether err is about a text that begins with a dash, which may be
// one to remember, and not about the name of a flag.
func dashed(err error) bool {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknown.GetSpecifiedShortnames() != "" || !flagName.MatchString(unknown.GetSpecifiedName())
	}
	_, ok := errors.AsType[*pflag.InvalidSyntaxError](err)
	return ok
}

// usagef is a usage error with the way out as its hint.
func usagef(hint, format string, args ...any) error {
	return memd.Errorf(memd.CodeInvalidRequest, format, args...).WithHint("%s", hint)
}

// diagnose prints what went wrong, for people and on stderr, and returns the
// exit code.
func (c *cli) diagnose(err error) int {
	if err == nil {
		return memd.ExitDone
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	c.complain(err)
	return memd.CodeOf(err).Statuses().Exit
}

// complain prints what is wrong, and what to do about it.
func (c *cli) complain(err error) {
	fmt.Fprintf(c.errs, "memd: %s\n", plain(errorText(err)))
	if e, ok := errors.AsType[*memd.Error](err); ok && e.Hint != "" {
		fmt.Fprintf(c.errs, "hint: %s\n", plain(e.Hint))
	}
}

// errorText is an error without its code: what it says, and its cause.
func errorText(err error) string {
	e, ok := errors.AsType[*memd.Error](err)
	switch {
	case !ok:
		return err.Error()
	case e.Err != nil:
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memd"
)

// maxInput bounds what is read from stdin or a file. The store's own bounds
// are lower; this one keeps a wrong file name from filling the memory.
const maxInput = 16 << 20

// fromStdin is the argument that stands for the text on stdin.
const fromStdin = "-"

func join(args []string) string { return strings.Join(args, " ") }

// oneText takes one positional text. Several words are not joined: their
// spaces are lost already, and so would be a mistyped flag's name.
func oneText(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("give it as one argument, or - to read it from stdin", "%s: the %s is missing", cmd.Name(), what)
		}
		return atMostOneText(what)(cmd, args)
	}
}

func atMostOneText(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef(`quote it: `+cmd.CommandPath()+` "several words"`,
				"%s: the %s is one argument, not %d", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// oneID takes one positional id.
func oneID(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usagef("`"+cmd.CommandPath()+" --help` shows how it is used", "%s: give one %s", cmd.Name(), what)
		}
		return nil
	}
}

// text is the positional text of args, "" if there is none. "-" stands for
// what is on stdin, less its last line break.
func (c *cli) text(args []string) (string, error) {
	if len(args) == 0 || args[0] != fromStdin {
		return join(args), nil
	}
	text, err := readAll("stdin", c.in)
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
}

// raw is the raw content given as such or as the name of a file.
type raw struct{ content, file string }

func (r *raw) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.content, "raw-content", "", "the whole text that the summary condenses")
	cmd.Flags().StringVar(&r.file, "raw-file", "", "a file that holds it, - for stdin")
	cmd.MarkFlagsMutuallyExclusive("raw-content", "raw-file")
}

func (r raw) read(c *cli, args []string) (string, error) {
	switch {
	case r.file == "":
		return r.content, nil
	case r.file != fromStdin:
		f, err := os.Open(r.file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		return readAll(r.file, f)
	case join(args) == fromStdin:
		return "", usagef("read one of them from a file", "the text and --raw-file cannot both come from stdin")
	}
	return readAll("stdin", c.in)
}

func readAll(name string, from io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxInput:
		return "", memd.Errorf(memd.CodeTooLarge, "%s holds more than %d bytes", name, maxInput)
	case !utf8.Valid(data):
		return "", memd.Errorf(memd.CodeInvalidRequest, "%s is not valid UTF-8", name)
	}
	return string(data), nil
}

// number is an integer flag that tells "not given" from zero.
type number struct{ into **int }

func numberVar(flags *pflag.FlagSet, into **int, name, what string) {
	flags.Var(number{into}, name, what)
}

func (n number) Type() string { return "int" }

func (n number) String() string {
	if n.into == nil || *n.into == nil {
		return ""
	}
	return strconv.Itoa(**n.into)
}

func (n number) Set(text string) error {
	value, err := strconv.Atoi(text)
	*n.into = &value
	return err
}

// instant is a flag that holds a time: RFC 3339, or "now".
type instant struct{ into *memd.Time }

func instantVar(flags *pflag.FlagSet, into *memd.Time, name, what string) {
	flags.Var(instant{into}, name, what+` (RFC 3339, or "now")`)
}

func (i instant) Type() string { return "time" }

func (i instant) String() string {
	if i.into == nil {
		return ""
	}
	return i.into.String()
}

func (i instant) Set(text string) (err error) {
	switch text {
	case "":
		*i.into = memd.Time{}
	case "now":
		*i.into = memd.At(time.Now())
	default:
		*i.into, err = memd.ParseTime(text)
	}
	return err
}

// names makes a flag complete from fixed values.
func names[T ~string](cmd *cobra.Command, flag string, values []T) {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	// It fails only for a flag that does not exist.
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

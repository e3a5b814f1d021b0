package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/exchange/folder"
	"memd/exchange/mirror"
	"memd/internal/background"
)

func (c *cli) watch() *cobra.Command {
	r := notesRun{cli: c}
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch DIR",
		Short: "Keep a folder of notes and the store the same",
		Long: `Keep a folder of Markdown notes and the store the same, while people edit the one
and agents write the other, until a signal ends it. It does what import and export
--notes do, both at once and whenever something changes.

It needs a running daemon (memd serve), and waits for one that went away. It prints
a line for each note that it wrote, removed or could not take, with --json one JSON
object a line.`,
		Example: "  memd watch notes\n  memd watch ~/notes --namespace user",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < 100*time.Millisecond {
				return memd.FieldErrorf(memd.CodeInvalidRequest, "every", "--every is a time such as 2s, 100ms at least")
			}
			return r.watch(cmd.Context(), args[0], every)
		},
	}
	cmd.Flags().StringVar(&r.Namespace, "namespace", "", "only this namespace, also of notes that state none")
	repeatedVar(cmd, &r.Access, "access", "an access tag to read under")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "how often to ask the daemon for what is new")
	return cmd
}

func (r *notesRun) watch(ctx context.Context, dir string, every time.Duration) error {
	if err := r.at(dir); err != nil {
		return err
	}
	cfg, err := r.load()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx, r.logger(cfg, slog.LevelWarn))
	defer stop()
	m := client.New(client.Dialled(background.New(background.Options{Dir: cfg.Dir}).Dial))
	defer m.Close()
	return mirror.Run(ctx, client.Values{Client: m}, mirror.Options{
		Notes: r.Options,
		Every: every,
		Began: func(report *folder.Report) { fmt.Fprintf(r.errs, "memd: watching %d notes\n", len(report.Files)) },
		Tell:  r.tell,
		Lost: func(err error) {
			r.complain(err)
			fmt.Fprintln(r.errs, "memd: waiting until that is over")
		},
		Found: func() { fmt.Fprintln(r.errs, "memd: that is over, and all has been caught up with") },
		Warn:  r.complain,
	})
}

// tell prints at once what became of a note.
func (r *notesRun) tell(e folder.Entry) error {
	if r.json {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(r.out, "%s\n", line); err != nil {
			return err
		}
	} else if err := r.print(func(w io.Writer) { noteLine(w, e) }); err != nil {
		return err
	}
	return r.out.Flush()
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memd"
	"memd/guard"
	"memd/guard/secrets"
)

func (c *cli) guard() *cobra.Command {
	return group("guard", "Let false alarms of the guard for secrets pass", c.guardAllow(), c.guardList(), c.guardRevoke())
}

func (c *cli) guardAllow() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "allow FINGERPRINT --reason TEXT",
		Short: "Let what the guard takes for a secret pass from now on",
		Long: `Let what the guard takes for a secret pass from now on. A refusal, the warning
of a redaction and memd log name its fingerprint. A running daemon goes by it at once.`,
		Example:           `  memd guard allow 5d41402abc4b2a76b9719d911017c592 --reason "the made-up key of the manual"`,
		Args:              oneID("fingerprint"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.telling(func(cmd *cobra.Command, args []string) error {
			return c.withAllowed(cmd.Context(), func(a *guard.Allowed) error {
				if err := noSecret("reason", reason); err != nil {
					return err
				}
				one, err := a.Allow(args[0], reason)
				if err != nil {
					return err
				}
				if c.json {
					return c.document(one)
				}
				return c.print(func(w io.Writer) { fmt.Fprintln(w, "allowed") })
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why it is none")
	return cmd
}

// noSecret refuses a text that is kept in the open and holds a secret.
func noSecret(field, text string) error {
	if found := secrets.New(secrets.Options{}).Scan(text); len(found) > 0 {
		return memd.FieldErrorf(memd.CodeSecretDetected, field, "the %s holds a secret itself (%s)", field, found[0].Rule)
	}
	return nil
}

func (c *cli) guardList() *cobra.Command {
	return &cobra.Command{
		Use:               "list",
		Short:             "List what passes, and why",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withAllowed(cmd.Context(), func(a *guard.Allowed) error {
				list, err := a.List()
				if err != nil {
					return err
				}
				if c.json {
					return c.document(struct {
						Allowed []guard.Allowance `json:"allowed"`
					}{list})
				}
				lines := [][]string{{"FINGERPRINT", "CREATED", "REASON"}}
				for _, one := range list {
					lines = append(lines, []string{one.Fingerprint, one.CreatedAt.String(), one.Reason})
				}
				return c.print(func(w io.Writer) { table(w, lines...) })
			})
		},
	}
}

func (c *cli) guardRevoke() *cobra.Command {
	return &cobra.Command{
		Use:               "revoke FINGERPRINT",
		Short:             "Let it pass no more",
		Args:              oneID("fingerprint"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.telling(func(cmd *cobra.Command, args []string) error {
			return c.withAllowed(cmd.Context(), func(a *guard.Allowed) error {
				if err := a.Revoke(args[0]); err != nil {
					return err
				}
				if c.json {
					return c.document(struct{}{})
				}
				return c.print(func(w io.Writer) { fmt.Fprintln(w, "revoked") })
			})
		}),
	}
}

// withAllowed opens the allow-list, which like the token files needs neither the
// daemon nor the lock of the data folder.
func (c *cli) withAllowed(ctx context.Context, fn func(*guard.Allowed) error) error {
	cfg, err := c.folder(ctx)
	if err != nil {
		return err
	}
	list, err := guard.OpenAllowed(cfg.Dir, c.logger(cfg, 0))
	if err != nil {
		return err
	}
	return fn(list)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/internal/dirlock"
)

func (c *cli) token() *cobra.Command {
	return group("token", "Make, list and revoke the tokens of TCP callers", c.tokenNew(), c.tokenList(), c.tokenRevoke())
}

func (c *cli) tokenNew() *cobra.Command {
	var made guard.Token
	cmd := &cobra.Command{
		Use:   "new NAME --role read|write|admin",
		Short: "Make a token and print it, this once",
		Long: `Make a token and print it, this once. A running daemon accepts it at once.
Without --namespace it sees every namespace; without --access it holds no access tag;
without --expires-at it opens until it is revoked.`,
		Example:           "  memd token new ci --role read --namespace project/memd",
		Args:              oneID("name"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.telling(func(cmd *cobra.Command, args []string) error {
			return c.withTokens(cmd.Context(), func(t *guard.Tokens) error {
				made.Name = args[0]
				if err := errors.Join(noSecret("name", made.Name), noSecret("access", strings.Join(made.Access, "\n"))); err != nil {
					return err
				}
				token, err := t.New(made)
				if err != nil {
					return err
				}
				if c.json {
					return c.document(struct {
						Name  string    `json:"name"`
						Token string    `json:"token"`
						Role  memd.Role `json:"role"`
					}{made.Name, token, made.Role})
				}
				return c.print(func(w io.Writer) { fmt.Fprintln(w, token) })
			})
		}),
	}
	cmd.Flags().StringVar((*string)(&made.Role), "role", "", "read, write or admin")
	names(cmd, "role", []memd.Role{memd.RoleRead, memd.RoleWrite, memd.RoleAdmin})
	repeatedVar(cmd, &made.Namespaces, "namespace", "a namespace it sees")
	repeatedVar(cmd, &made.Access, "access", "an access tag it holds")
	instantVar(cmd.Flags(), &made.ExpiresAt, "expires-at", "from when on it opens nothing")
	return cmd
}

func (c *cli) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:               "list",
		Short:             "List the tokens, without their secret",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withTokens(cmd.Context(), func(t *guard.Tokens) error {
				tokens, err := t.List()
				if err != nil {
					return err
				}
				if c.json {
					return c.document(struct {
						Tokens []guard.Token `json:"tokens"`
					}{tokens})
				}
				return c.print(func(w io.Writer) { tokenTable(w, tokens) })
			})
		},
	}
}

func tokenTable(w io.Writer, tokens []guard.Token) {
	lines := [][]string{{"NAME", "ROLE", "NAMESPACES", "ACCESS", "CREATED", "EXPIRES"}}
	for _, t := range tokens {
		namespaces := list(t.Namespaces)
		if slices.Equal(t.Namespaces, []string{guard.AllNamespaces}) {
			namespaces = "all"
		}
		expires := "never"
		if !t.ExpiresAt.IsZero() {
			expires = t.ExpiresAt.String()
		}
		lines = append(lines, []string{t.Name, string(t.Role), namespaces, list(t.Access), t.CreatedAt.String(), expires})
	}
	table(w, lines...)
}

func (c *cli) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:               "revoke NAME",
		Short:             "Make a token worthless at once",
		Args:              oneID("name"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.telling(func(cmd *cobra.Command, args []string) error {
			return c.withTokens(cmd.Context(), func(t *guard.Tokens) error {
				if err := t.Revoke(args[0]); err != nil {
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

// withTokens opens the token files, which need neither the daemon nor the
// lock of the data folder: package guard keeps writers apart.
func (c *cli) withTokens(ctx context.Context, fn func(*guard.Tokens) error) error {
	cfg, err := c.folder(ctx)
	if err != nil {
		return err
	}
	tokens, err := guard.Open(cfg.Dir, c.logger(cfg, 0))
	if err != nil {
		return err
	}
	return fn(tokens)
}

// folder loads the configuration. A data folder that is not there yet is made the
// way the daemon would.
func (c *cli) folder(ctx context.Context) (*configs.Loaded, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.Dir); errors.Is(err, fs.ErrNotExist) {
		lock, err := dirlock.Acquire(ctx, cfg.Dir, c.wait, dirlock.Options{AllowNetworkFS: cfg.AllowNetworkFS})
		if err != nil {
			return nil, err
		}
		if err := lock.Release(); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

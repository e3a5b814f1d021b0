package tiers_test

import (
	"testing"

	"memd/configs"
)

// A text that is sent away is without what a tier would block or redact, and as it is
// where nothing is looked for.
func TestLeaving(t *testing.T) {
	h := newHouse(t, nil)
	guarded := func(g configs.Guard) func(string) string { return h.WithGuard(g).Leaving }
	secrets := func(long, short string) configs.Guard {
		return configs.Guard{Secrets: configs.GuardSecrets{Long: long, Team: configs.GuardOff, Short: short, Transient: configs.GuardBlock}}
	}
	const card = "the card is [redacted:card], paid twice"
	for name, c := range map[string]struct {
		leave      func(string) string
		text, want string
	}{
		"a token":               {h.Leaving, hidden["plain"], "the bot uses [redacted:github-pat] for pushes"},
		"over two lines":        {h.Leaving, hidden["two lines"], "the bot uses\n[redacted:github-pat]\nfor pushes"},
		"a card":                {h.Leaving, aCard, card},
		"a card that blocks":    {guarded(configs.Guard{Cards: configs.GuardBlock}), aCard, card},
		"no card is looked for": {guarded(secrets(configs.GuardBlock, configs.GuardRedact)), aCard, aCard},
		"a number of any kind":  {h.Leaving, unsure, unsure},
		"mail, which warns":     {h.Leaving, aMail, aMail},
		"mail that blocks":      {guarded(configs.Guard{Email: configs.GuardBlock}), aMail, "ask [redacted:email] first"},
		"one tier looks":        {guarded(secrets(configs.GuardOff, configs.GuardRedact)), hidden["plain"], "the bot uses [redacted:github-pat] for pushes"},
		"the other looks":       {guarded(secrets(configs.GuardBlock, configs.GuardOff)), hidden["plain"], "the bot uses [redacted:github-pat] for pushes"},
		"notes stay":            {guarded(secrets(configs.GuardOff, configs.GuardOff)), hidden["plain"], hidden["plain"]},
		"nobody looks":          {guarded(configs.Guard{}), hidden["plain"], hidden["plain"]},
		"nothing to find":       {h.Leaving, "src/api/token.go:342 rejects it", "src/api/token.go:342 rejects it"},
		"what was taken out":    {h.Leaving, card, card},
	} {
		if got := c.leave(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if c := h.GuardCounts(); len(c.Redacted)+len(c.Blocked) != 0 {
		t.Errorf("no write, and yet counted: %+v", c)
	}
}

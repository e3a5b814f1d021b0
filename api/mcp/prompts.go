package mcp

import (
	"context"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// Instructions of the prompts.
const (
	beforeWork = "Before you begin with the task below, read what is known about it and say in a few lines what of it matters, what is old or marked STALE, and what you will check first. " +
		"A memory that names a file, function or flag is checked against the code before you rely on it. Use recall for what is still open."
	wrapUp = "The session is about to end. Go through what happened and save what a later session will want: decisions with their reason, corrections and confirmations by the person, pitfalls, what is left to do. " +
		"Use remember for events and open tasks, remember_long_term for what will hold for months (recall first, and reuse the key of what it replaces). " +
		"Leave out what the code, git or a document already tells. These notes of the session are gone with it; save from them what should stay:"
	review = "Go through the memories below with the person. Check each against its source: verify what still holds, write anew what changed, forget what is wrong or of no use any more. " +
		"Change nothing that you have not looked at, and list what you did."
)

// addPrompts offers the prompts.
func (s *Server) addPrompts() {
	add := func(p *sdk.Prompt, text func(context.Context, map[string]string) (string, error)) {
		s.sdk.AddPrompt(p, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			ctx, cancel := s.until(ctx)
			defer cancel()
			said, err := text(ctx, req.Params.Arguments)
			if err != nil {
				return nil, protocolError(s.told(ctx, methodGetPrompt, err))
			}
			return &sdk.GetPromptResult{
				Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: said}}},
			}, nil
		})
	}
	add(&sdk.Prompt{
		Name: "recall-before-work", Title: "Recall before work", Description: "Start a task from what is known about it.",
		Arguments: []*sdk.PromptArgument{{Name: "task", Description: "What is to be done.", Required: true}},
	}, s.beforeWork)
	add(&sdk.Prompt{
		Name: "wrap-up-session", Title: "Wrap up the session", Description: "Save what a later session will want to know.",
	}, s.wrapUp)
	add(&sdk.Prompt{
		Name: "groom-review", Title: "Review memories", Description: "Check stale memories against their sources.",
		Arguments: []*sdk.PromptArgument{{Name: "namespace", Description: "Only in this. Default: all that the session reads."}},
	}, s.review)
}

func (s *Server) beforeWork(ctx context.Context, given map[string]string) (string, error) {
	task := given["task"]
	switch n := utf8.RuneCountInString(task); {
	case task == "":
		return "", memd.FieldErrorf(memd.CodeMissingField, "task", "task is missing")
	case n > memd.MaxQueryChars:
		return "", memd.FieldErrorf(memd.CodeTooLarge, "task", "task has more than %d characters", memd.MaxQueryChars)
	}
	said := beforeWork + "\n\nTask: " + s.fence.Text(clip(task, defaultChars/4))
	known, err := s.contextText(ctx, task, s.session, defaultChars-runes(said)-2)
	return said + "\n\n" + known, err
}

func (s *Server) wrapUp(ctx context.Context, _ map[string]string) (string, error) {
	reply, err := s.client(ctx).Notes(ctx, s.session)
	if err != nil && memd.CodeOf(err) != memd.CodeNotFound {
		return "", err
	}
	if len(reply.Value.Memories) == 0 {
		return wrapUp + "\n\n(There are no notes.)", nil
	}
	var entries []string
	left := defaultChars - runes(wrapUp) - 2
	for i := len(reply.Value.Memories) - 1; i >= 0; i-- { // the newest are the likeliest to matter
		entries = append(entries, entry(s.fence, &reply.Value.Memories[i]))
		if runes(sheet("", entries)) > left {
			entries = entries[:len(entries)-1]
			break
		}
	}
	return wrapUp + "\n\n" + sheet("", entries), nil
}

func (s *Server) review(ctx context.Context, given map[string]string) (string, error) {
	stale := true
	a, err := list(ctx, s, listIn{Stale: &stale, Namespace: given["namespace"]}, defaultChars-runes(review)-2)
	return review + "\n\n" + a.text, err
}

package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"
)

// Size is how much a text weighs.
type Size struct {
	Chars  int `json:"chars"`  // code points
	Tokens int `json:"tokens"` // estimated: a quarter of the code points
}

// charsPerToken is a usual mean for English and JSON; no tokenizer is asked.
const charsPerToken = 4

func sizeOf(chars int) Size { return Size{chars, (chars + charsPerToken - 1) / charsPerToken} }

// ToolSize is a tool with its weight.
type ToolSize struct {
	Name   string `json:"name"`
	Shown  Size   `json:"shown"`  // name, description and input schema: what clients put before the model
	Listed Size   `json:"listed"` // the whole entry of tools/list
}

// Description is what a profile costs a client.
type Description struct {
	Profile      string     `json:"profile"`
	Tools        []ToolSize `json:"tools"`
	Instructions Size       `json:"instructions"`
	Shown        Size       `json:"shown"`  // of all tools
	Listed       Size       `json:"listed"` //
}

// Describe weighs the tools of a profile.
func Describe(profile string) (Description, error) {
	if err := CheckProfile(profile); err != nil {
		return Description{}, err
	}
	if profile == "" {
		profile = ProfileFull
	}
	d := Description{Profile: profile, Tools: []ToolSize{}, Instructions: sizeOf(runes((&Server{}).instructions()))}
	shown, listed := 0, 0
	for _, t := range toolsOf(profile) {
		seen := chars(encode(struct {
			Name        string             `json:"name"`
			Description string             `json:"description"`
			InputSchema *jsonschema.Schema `json:"inputSchema"`
		}{t.name, t.doc, t.in}))
		whole := chars(encode(t.offer))
		d.Tools = append(d.Tools, ToolSize{t.name, sizeOf(seen), sizeOf(whole)})
		shown, listed = shown+seen, listed+whole
	}
	d.Shown, d.Listed = sizeOf(shown), sizeOf(listed)
	return d, nil
}

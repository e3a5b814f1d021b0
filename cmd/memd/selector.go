package main

import (
	"memd/configs"
	"memd/embedding/openai"
	"memd/recall"
	"memd/recall/selector"
)

// openSelector opens what the configuration names, nil for none. It asks no
// server. The caller must call close, after the last use.
func openSelector(cfg *configs.Loaded) (s recall.Selector, close func(), err error) {
	c := cfg.Selector
	if c.Provider != configs.ProviderOpenAI {
		return nil, func() {}, nil
	}
	chat, err := openai.NewChat(openai.ChatConfig{
		URL: c.URL, Model: c.Model, Key: openai.Key(cfg.SelectorKey()), Timeout: c.Timeout,
	})
	if err != nil {
		return nil, nil, inSection("selector", err)
	}
	return selector.New(chat), chat.Close, nil
}

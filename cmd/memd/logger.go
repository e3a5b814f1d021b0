package main

import (
	"log/slog"

	"memd/configs"
)

// logger writes to stderr as the configuration says, and nothing below least.
func (c *cli) logger(cfg *configs.Loaded, least slog.Level) *slog.Logger {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	opts := &slog.HandlerOptions{Level: max(levels[cfg.Log.Level], least)}
	if cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.errs, opts))
	}
	return slog.New(slog.NewTextHandler(c.errs, opts))
}

// Package mcp gives agents memd's calls as tools, resources and prompts of the
// Model Context Protocol (https://modelcontextprotocol.io).
//
// It speaks to memd through api/client alone, so that roles, limits, guards,
// metrics and the log are REST's and stand nowhere twice. What it adds is what
// a model needs: descriptions that say when to use a tool and when not, the
// namespaces and the session that a client does not name, answers that are
// bounded and fenced as data, and errors with a hint.
//
// A Server serves one session: see [New]. [Handler] serves many over HTTP.
package mcp

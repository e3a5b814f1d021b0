package jsonl

import "memd"

// Format names the form, and Version the one that this release writes and reads.
const (
	Format  = "memd-jsonl"
	Version = 1
)

// Types of the lines that are no records.
const (
	headerType  = "header"
	trailerType = "trailer"
)

// MaxLine bounds a line, in bytes. A longer one is refused and stepped over.
const MaxLine = 1 << 20

// Header is the first line of a file.
type Header struct {
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Version    int               `json:"format_version"`
	Memd       string            `json:"memd_version"`
	Schema     int               `json:"schema_version"`
	MadeAt     memd.Time         `json:"made_at"`
	Namespaces []string          `json:"namespaces,omitempty"` // the only ones whose memories are in the file; absent: all
	Rows       map[memd.Tier]int `json:"rows,omitempty"`       // that the tiers of the store held, roughly
	Missing    []string          `json:"missing,omitempty"`    // historical databases that could not be read
}

// Trailer is the last line of a file.
type Trailer struct {
	Type   string `json:"type"`
	Lines  int    `json:"lines"`  // between header and trailer
	SHA256 string `json:"sha256"` // over these, each ended by a line feed, in hex
}

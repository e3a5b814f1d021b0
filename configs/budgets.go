package configs

import (
	"time"

	"memd"
)

// Budgets bound what a store keeps (contract section 4). Fields of type int64
// are bytes, ints are rows, files, versions or code points of a summary.
type Budgets struct {
	ActiveBytes  int64 `yaml:"active_bytes"`
	HistoryFiles int   `yaml:"history_files"`
	StoreBytes   int64 `yaml:"store_bytes"` // historical databases together

	TransientRows  int           `yaml:"transient_rows"`
	TransientChars int           `yaml:"transient_chars"`
	TransientTTL   time.Duration `yaml:"transient_ttl"`

	ShortRows      int           `yaml:"short_rows"`
	ShortChars     int           `yaml:"short_chars"`
	ShortRetention time.Duration `yaml:"short_retention"`

	ShortArchiveImportance int           `yaml:"short_archive_importance"`
	ShortArchiveAfter      time.Duration `yaml:"short_archive_after"`

	LongRows     int `yaml:"long_rows"` // heads
	LongChars    int `yaml:"long_chars"`
	LongVersions int `yaml:"long_versions"` // per key

	ArchiveRows      int           `yaml:"archive_rows"`
	ArchiveRetention time.Duration `yaml:"archive_retention"`

	RawBytes int64 `yaml:"raw_bytes"` // of one raw_content

	EmbeddingRows  int   `yaml:"embedding_rows"`
	EmbeddingBytes int64 `yaml:"embedding_bytes"`

	LongFreshFor       time.Duration `yaml:"long_fresh_for"`
	PreferenceFreshFor time.Duration `yaml:"preference_fresh_for"`

	// PerNamespace is the share of each row budget that one namespace may
	// hold, in (0, 1]; 0 sets no such bound.
	PerNamespace float64 `yaml:"per_namespace"`
}

// DefaultBudgets returns the defaults of contract section 4.
func DefaultBudgets() Budgets {
	const day = 24 * time.Hour
	return Budgets{
		ActiveBytes:  10380902, // 9.9 MiB
		HistoryFiles: 20,
		StoreBytes:   200 << 20,

		TransientRows:  500,
		TransientChars: 4000,
		TransientTTL:   day,

		ShortRows:      5000,
		ShortChars:     8000,
		ShortRetention: 30 * day,

		ShortArchiveImportance: 5,
		ShortArchiveAfter:      7 * day,

		LongRows:     2000,
		LongChars:    12000,
		LongVersions: 20,

		ArchiveRows:      50000,
		ArchiveRetention: 365 * day,

		RawBytes: 64 << 10,

		EmbeddingRows:  60000,
		EmbeddingBytes: 64 << 20,

		LongFreshFor:       90 * day,
		PreferenceFreshFor: 365 * day,
	}
}

// FreshFor returns how long after its verification a long row of kind k is
// believed without another look.
func (b Budgets) FreshFor(k memd.Kind) time.Duration {
	if k.Personal() {
		return b.PreferenceFreshFor
	}
	return b.LongFreshFor
}

// Setting is one key with its value as text.
type Setting struct{ Key, Value string }

// Map returns every budget in force, in the order of the struct and under its
// bare key ("active_bytes"), for the meta table: bytes and counts as plain
// integers, durations in Go's form ("720h").
func (b Budgets) Map() []Setting {
	leaves := fieldsOf(&b)
	settings := make([]Setting, len(leaves))
	for i, f := range leaves {
		settings[i] = Setting{Key: f.key, Value: f.text()}
	}
	return settings
}

package client

import (
	"memd"
	"memd/groom"
	"memd/store"
)

// Versions is every version of a key, newest first.
type Versions struct {
	Versions []memd.Memory `json:"versions"`
}

// Diagnosis is what the doctor found.
type Diagnosis struct {
	OK       bool            `json:"ok"`
	Findings []store.Finding `json:"findings"`
}

// GroomReports are the last runs of groom, newest first, and how far one under
// way has come, nil for none.
type GroomReports struct {
	Reports []groom.Report  `json:"reports"`
	Running *groom.Progress `json:"running"`
}

// LogPage is a page of the log, the newest entries first.
type LogPage struct {
	Entries    []store.Entry `json:"entries"`
	NextCursor string        `json:"next_cursor,omitempty"`
}

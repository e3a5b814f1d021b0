package artefacts

import "memd"

// Outcome is what became of an item or a row.
type Outcome string

// Outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"   // a new version of its key
	Unchanged Outcome = "unchanged" // it says what it said
	Stale     Outcome = "stale"     // the artefact says it no more
	Held      Outcome = "held"      // its memory was ended or written over by others, and is left so
	Refused   Outcome = "refused"   // by a guard, a limit, or somebody else's edit
)

// Result is what became of one item or row. It holds no text of the artefact but
// what stands in its key.
type Result struct {
	Outcome   Outcome   `json:"outcome"`
	File      string    `json:"file"`           // relative to the root of the sources
	Line      int       `json:"line,omitempty"` // 0 where nothing stands there any more
	MemoryKey string    `json:"memory_key"`
	ID        string    `json:"id,omitempty"`
	Version   int       `json:"version,omitempty"`
	Code      memd.Code `json:"code,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

// Report is what a run found and did.
type Report struct {
	Namespace string `json:"namespace"`
	Root      string `json:"root"` // the folder that the sources are relative to
	DryRun    bool   `json:"dry_run"`
	Files     int    `json:"files"`

	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Verified  int `json:"verified"` // of the unchanged, whose verification was renewed
	Stale     int `json:"stale"`
	Held      int `json:"held"`
	Refused   int `json:"refused"`

	Results  []Result  `json:"results"` // of all but the unchanged
	Skipped  []Skipped `json:"skipped"`
	Warnings []string  `json:"warnings"`
}

func (r *Report) add(res Result) {
	switch res.Outcome {
	case Created:
		r.Created++
	case Updated:
		r.Updated++
	case Stale:
		r.Stale++
	case Held:
		r.Held++
	case Refused:
		r.Refused++
	case Unchanged:
		r.Unchanged++
		return
	}
	r.Results = append(r.Results, res)
}

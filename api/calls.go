package api

import (
	"errors"
	"path/filepath"

	"memd"
	"memd/groom"
	"memd/guard"
	"memd/store"
)

// Bodies and answers that have no word in the root package.
type (
	// nothing is the body of a call that needs none: absent, or {}.
	nothing struct{}

	// batch asks for whole rows.
	batch struct {
		IDs []string `json:"ids"` // 1 to memd.MaxBatch
	}

	// memories is a list without pages.
	memories struct {
		Memories []memd.Memory `json:"memories"`
	}

	versions struct {
		Versions []memd.Memory `json:"versions"`
	}

	manifest struct {
		Lines []string `json:"lines"` // "[kind] key (age): summary"
	}

	groomRequest groom.Options

	// backupRequest says where a backup goes.
	backupRequest struct {
		To string `json:"to,omitempty"` // an absolute folder on the daemon's machine; absent: the default
	}

	groomReports struct {
		Reports []groom.Report  `json:"reports"`
		Running *groom.Progress `json:"running,omitempty"` // absent where none is
	}

	diagnosis struct {
		OK       bool            `json:"ok"`
		Findings []store.Finding `json:"findings"`
	}
)

func (s *Server) remember(c *call, in memd.Remember) (memd.Written, error) {
	return s.tiers.Remember(c.ctx, c.caller, in)
}

func (s *Server) rememberLongTerm(c *call, in memd.RememberLongTerm) (memd.Written, error) {
	return s.tiers.RememberLongTerm(c.ctx, c.caller, in)
}

func (s *Server) note(c *call, in memd.Note) (memd.Written, error) {
	return s.tiers.Note(c.ctx, c.caller, c.path("session_id"), in)
}

func (s *Server) notes(c *call) (memories, error) {
	found, err := s.tiers.Notes(c.ctx, c.caller, c.path("session_id"))
	return memories{listed(found)}, err
}

func (s *Server) endSession(c *call) error {
	return s.tiers.EndSession(c.ctx, c.caller, c.path("session_id"))
}

func (s *Server) recall(c *call, in memd.Query) (memd.Answer, error) {
	answer, err := s.engine.Recall(c.ctx, c.caller, in)
	if err == nil {
		s.metrics.recalled(answer)
	}
	return answer, err
}

func (s *Server) context(c *call, in memd.ContextRequest) (memd.Context, error) {
	return s.engine.Context(c.ctx, c.caller, in)
}

func (s *Server) why(c *call, in memd.WhyRequest) (memd.WhyAnswer, error) {
	return s.engine.Why(c.ctx, c.caller, in)
}

func (s *Server) list(c *call) (memd.Page, error) {
	req, err := listRequest(c.query)
	if err != nil {
		return memd.Page{}, err
	}
	return s.tiers.List(c.ctx, c.caller, req)
}

func (s *Server) batch(c *call, in batch) (memories, error) {
	found, err := s.tiers.Batch(c.ctx, c.caller, in.IDs)
	return memories{listed(found)}, err
}

func (s *Server) gone(c *call) (memd.GonePage, error) {
	return s.tiers.Gone(c.ctx, c.caller, c.query.Get("namespace"), c.query.Get("cursor"))
}

func (s *Server) get(c *call) (memd.Memory, error) {
	return s.tiers.Get(c.ctx, c.caller, c.path("id"))
}

func (s *Server) patch(c *call, in memd.Patch) (memd.Written, error) {
	return s.tiers.Patch(c.ctx, c.caller, c.path("id"), in)
}

func (s *Server) forget(c *call) error {
	return s.tiers.Forget(c.ctx, c.caller, c.path("id"))
}

func (s *Server) verify(c *call, in memd.Verify) (memd.Written, error) {
	return s.tiers.Verify(c.ctx, c.caller, c.path("id"), in)
}

func (s *Server) promote(c *call, in memd.Promote) (memd.Written, error) {
	return s.tiers.Promote(c.ctx, c.caller, c.path("id"), in)
}

func (s *Server) archive(c *call, _ nothing) (memd.Written, error) {
	return s.tiers.Archive(c.ctx, c.caller, c.path("id"))
}

func (s *Server) hit(c *call, _ nothing) (memd.Written, error) {
	return s.tiers.Hit(c.ctx, c.caller, c.path("id"))
}

func (s *Server) head(c *call) (memd.Memory, error) {
	return s.tiers.Head(c.ctx, c.caller, c.query.Get("namespace"), c.path("memory_key"))
}

func (s *Server) versions(c *call) (versions, error) {
	found, err := s.tiers.Versions(c.ctx, c.caller, c.query.Get("namespace"), c.path("memory_key"))
	return versions{listed(found)}, err
}

func (s *Server) forgetKey(c *call) error {
	return s.tiers.ForgetKey(c.ctx, c.caller, c.query.Get("namespace"), c.path("memory_key"))
}

func (s *Server) manifest(c *call) (manifest, error) {
	lines, err := s.tiers.Manifest(c.ctx, c.caller, c.query.Get("namespace"), c.query["access"])
	return manifest{listed(lines)}, err
}

func (s *Server) groom(c *call, in groomRequest) (groom.Report, error) {
	in.Caller = c.caller.Name
	return s.runner.Run(c.ctx, groom.Options(in))
}

func (s *Server) grooms(c *call) (groomReports, error) {
	reports, err := s.runner.Reports(c.ctx)
	return groomReports{listed(reports), s.runner.Running()}, err
}

func (s *Server) audit(c *call) (groom.Audit, error) {
	sample, err := sampleOf(c.query)
	if err != nil {
		return groom.Audit{}, err
	}
	return s.auditor.Audit(c.ctx, c.caller, groom.AuditOptions{Sample: sample})
}

func (s *Server) stats(c *call) (store.Stats, error) { return s.store.Stats(c.ctx) }

func (s *Server) doctor(c *call) (diagnosis, error) {
	quick, err := boolOf(c.query, "quick")
	if err != nil {
		return diagnosis{}, err
	}
	findings, err := s.store.Check(c.ctx, quick != nil && *quick)
	if e, ok := errors.AsType[*memd.Error](err); ok && e.Code == memd.CodeStoreFailed {
		// A check that cannot go on is a finding beside those it made until then.
		s.log.ErrorContext(c.ctx, "check failed", "request_id", requestID(c.ctx), "error", err)
		findings, err = append(findings, store.Finding{
			Check: "check", Detail: e.Message, Fix: "the log names the cause; `memd restore` brings back a backup if the database is damaged",
		}), nil
	}
	for _, fault := range guard.Check(s.store.Dir()) {
		findings = append(findings, guardFinding(fault))
	}
	return diagnosis{OK: len(findings) == 0, Findings: listed(findings)}, err
}

// guardFinding is the finding of a file of package guard that cannot be used.
func guardFinding(fault error) store.Finding {
	f := store.Finding{Check: "guard_file", Detail: fault.Error(), Fix: "see to it that the user who runs memd can read the file"}
	if e, ok := errors.AsType[*memd.Error](fault); ok {
		f.Detail, f.Fix = e.Message, e.Hint
	}
	return f
}

func (s *Server) backup(c *call, in backupRequest) (store.Backup, error) {
	if in.To != "" && !filepath.IsAbs(in.To) {
		return store.Backup{}, memd.FieldErrorf(memd.CodeInvalidRequest, "to", "to must be an absolute path on the daemon's machine")
	}
	return s.store.BackupBy(c.ctx, c.caller.Name, in.To)
}

func (s *Server) rollover(c *call, _ nothing) (store.Rolled, error) {
	rolled, err := s.store.RolloverBy(c.ctx, c.caller.Name)
	rolled.Retired = listed(rolled.Retired)
	return rolled, err
}

func (s *Server) compact(c *call, _ nothing) (store.Compacted, error) {
	compacted, err := s.store.CompactBy(c.ctx, c.caller.Name)
	compacted.Files = listed(compacted.Files)
	return compacted, err
}

// listed is never nil: a list in JSON is [], never null.
func listed[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"memd"
	"memd/exchange/jsonl"
	"memd/migrations"
	"memd/tiers"
)

// linesType is the content type of an export.
const linesType = "application/x-ndjson"

var exportParams = []param{{name: "namespace", doc: "Only what is in these namespaces; missing means all.", repeats: true,
	schema: huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}}}

type (
	// importRequest is the body of an import as it is described.
	importRequest struct {
		Records []memd.Record `json:"records"`           // 1 to memd.MaxRecords
		DryRun  bool          `json:"dry_run,omitempty"` // say what would become of each, and write nothing
	}

	// rawImport is importRequest as it is read: what is wrong with a record is told of
	// that one.
	rawImport struct {
		Records []json.RawMessage `json:"records"`
		DryRun  bool              `json:"dry_run,omitempty"`
	}

	// importAnswer tells of each record what became of it, in their order.
	importAnswer struct {
		Records []memd.Imported `json:"records"`
	}
)

// of has the body described by another type than it is read into.
func (rt route) of(in reflect.Type) route { rt.in = in; return rt }

// export writes the store line by line. What fails once the first line is out cuts the
// answer short: the trailer is missing then.
func (s *Server) export(c *call) error {
	var out *jsonl.Writer
	w := bufio.NewWriterSize(c.w, 32<<10)
	err := s.tiers.Export(c.ctx, c.caller, c.query["namespace"], func(e tiers.Exported) (err error) {
		c.w.Header().Set("Content-Type", linesType)
		c.w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(c.w).Flush() // from here on it comes as it is made
		out, err = jsonl.NewWriter(w, jsonl.Header{
			Memd: s.version, Schema: migrations.Latest, MadeAt: e.At, Namespaces: e.Namespaces, Rows: e.Rows, Missing: e.Missing,
		})
		return err
	}, func(rec *memd.Record) error { return out.Write(rec) })
	if err == nil {
		err = errors.Join(out.Close(), w.Flush())
	}
	if err == nil || out == nil {
		return err
	}
	if c.ctx.Err() == nil {
		s.log.ErrorContext(c.ctx, "export cut short", "request_id", requestID(c.ctx), "error", err)
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) importRecords(c *call, in rawImport) (importAnswer, error) {
	if len(in.Records) == 0 {
		return importAnswer{}, memd.FieldErrorf(memd.CodeMissingField, "records", "records is missing")
	}
	if len(in.Records) > memd.MaxRecords {
		return importAnswer{}, memd.FieldErrorf(memd.CodeTooLarge, "records", "records has %d entries, at most %d are allowed", len(in.Records), memd.MaxRecords)
	}
	outcomes := make([]memd.Imported, len(in.Records))
	var records []memd.Record
	var at []int // where each of them stood
	places := placesOf(reflect.TypeFor[memd.Record]())
	for i, raw := range in.Records {
		var rec memd.Record
		if err := decode(raw, &rec, places, []string{"type"}); err != nil {
			outcomes[i] = unread(err)
			continue
		}
		records, at = append(records, rec), append(at, i)
	}
	done, err := s.tiers.Import(c.ctx, c.caller, records, in.DryRun)
	if err != nil {
		return importAnswer{}, err
	}
	for i, out := range done {
		outcomes[at[i]] = out
	}
	return importAnswer{outcomes}, nil
}

// unread is the outcome of a record that cannot be read.
func unread(err error) memd.Imported {
	out := memd.Imported{Outcome: memd.Refused, Code: memd.CodeOf(err), Reason: "it cannot be read"}
	if e, ok := errors.AsType[*memd.Error](err); ok {
		out.Field, out.Hint = e.Field, e.Hint
		out.Reason = strings.ReplaceAll(e.Message, "the body", "the record")
	}
	return out
}

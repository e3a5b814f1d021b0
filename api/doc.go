// Package api is memd over HTTP: it decodes, authenticates, calls and maps
// errors, and holds no rule of its own about memories.
//
// The calls stand in one table (see routes), each with its method, path, role,
// body and answer. The same table gives the chi router its routes and the
// OpenAPI document its operations, through huma's registry of Go types; huma's
// own decoding and validation stay out of the way, so that every refusal is
// the contract's: one code, one status, never a submitted value.
package api

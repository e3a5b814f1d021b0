package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"memd"
)

// listIn are the arguments of list.
type listIn struct {
	Tier      memd.Tier `json:"tier"`
	Kind      memd.Kind `json:"kind"`
	Tag       string    `json:"tag"`
	MemoryKey string    `json:"memory_key"`
	Stale     *bool     `json:"stale"`
	Q         string    `json:"q"`
	SessionID string    `json:"session_id"`
	Namespace string    `json:"namespace"`
	Access    []string  `json:"access"`
	Limit     int       `json:"limit"`
	Cursor    string    `json:"cursor"`
}

// place is where a page over several namespaces ended: within one of them.
type place struct {
	Namespace string `json:"n"`
	Cursor    string `json:"c,omitempty"` // "" for its start
}

func (p place) seal() string { return base64.RawURLEncoding.EncodeToString(encode(p)) }

func list(ctx context.Context, s *Server, in listIn, room int) (answer, error) {
	if in.Limit == 0 {
		in.Limit = memd.DefaultListLimit
	}
	in.Access = append(in.Access, s.opts.Access...)
	if in.Tier == memd.Transient {
		in.SessionID = s.own(in.SessionID)
	}
	var named []string
	if in.Namespace != "" {
		named = []string{in.Namespace}
	}
	c := s.client(ctx)
	return s.paged(in.Limit, room, func(limit, _ int) (page, error) {
		return reading(ctx, s, c, named, func(names []string) (page, error) {
			return s.listed(ctx, in, names, limit)
		})
	})
}

// listed lists names one after the other, in their order.
func (s *Server) listed(ctx context.Context, in listIn, names []string, limit int) (page, error) {
	all := page{name: "memories", rest: object{{"memories", json.RawMessage("[]")}}, empty: "There are no such memories."}
	from, err := placeOf(s.cursors.long(in.Cursor), names)
	if err != nil {
		return page{}, err
	}
	for i := slices.Index(names, from.Namespace); i < len(names); i++ {
		reply, err := s.client(ctx).List(ctx, memd.List{
			Tier: in.Tier, Namespace: names[i], Kind: in.Kind, Tag: in.Tag, MemoryKey: in.MemoryKey, Stale: in.Stale, Q: in.Q,
			SessionID: in.SessionID, Access: in.Access, Limit: limit - len(all.rows), Cursor: from.Cursor,
		})
		if err != nil {
			return page{}, err
		}
		p, err := s.pageOf(reply.Raw, all.name)
		if err != nil {
			return page{}, err
		}
		all.rows, all.memories = append(all.rows, p.rows...), append(all.memories, reply.Value.Memories...)
		next := place{names[i], reply.Value.NextCursor}
		if next.Cursor == "" && len(all.rows) == limit && i+1 < len(names) {
			next.Namespace = names[i+1]
		} else if next.Cursor == "" {
			from.Cursor = ""
			continue
		}
		all.rest = all.rest.with("next_cursor", s.cursors.short(next.seal()))
		break
	}
	return all, nil
}

// placeOf reads a cursor, "" being the start.
func placeOf(cursor string, names []string) (place, error) {
	if cursor == "" {
		return place{Namespace: names[0]}, nil
	}
	var p place
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(raw, &p) != nil || !slices.Contains(names, p.Namespace) {
		return p, memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "cursor does not belong to this list").
			WithHint("use the next_cursor of the page before, with the same arguments")
	}
	return p, nil
}

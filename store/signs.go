package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// signs holds the bits of all vectors in memory, where a pass over them costs a
// hundredth of one in SQLite. They only propose rows: what is proposed is then
// looked at in the database, so that one too many does no harm. None is missing:
//
//   - A vector of the active database is added before its transaction commits,
//     and what a View reads for the first time is joined with all that was added
//     by transactions that may have ended after that View began.
//   - A historical database changes while no View is at work, and its generation
//     grows.
//
// A vector that another program writes is seen once memd itself has written
// something: see writer.watch. The memory is bounded by the budgets of vectors: an
// eighth of their bytes, and about 60 a row.
type signs struct {
	loading  sync.Mutex // held while the bits of a database are read
	readings atomic.Int64

	mu    sync.Mutex
	held  map[*part]*held
	epoch int64 // grows when what is held of the active database is not to be trusted

	// Vectors added to the active database, the last ones, and how many there
	// were before these.
	added   []sign
	before  int64
	settled int64 // how many there were when no transaction was under way
}

// held is what is held of one database.
type held struct {
	gen    int64 // of the database, when it was read
	spaces map[space]matrix
	read   int // vectors, when it was read
	since  int // vectors added since, of which some take others' place
}

// sign is one vector that was added.
type sign struct {
	id    string
	space space
	bits  []byte
}

// Bounds of what is kept of vectors that were added.
const (
	keptSigns = 4096 // for Views that began before; a reading is not kept where they do not reach back
	moreSigns = 4096 // beside half of what was read, after which all is read anew
)

// matrix is the bits of vectors of one space, one after the other. Rows are only
// ever added, so that a copy can be read while others add.
type matrix struct {
	words []uint64 // as many for each vector as its bits take
	ids   []byte
	ends  []uint32 // of the ids
}

// appendWords appends bits as words; what is left of the last one is 0.
func appendWords(words []uint64, bits []byte) []uint64 {
	for len(bits) >= 8 {
		words = append(words, binary.LittleEndian.Uint64(bits))
		bits = bits[8:]
	}
	if len(bits) > 0 {
		var last [8]byte
		copy(last[:], bits)
		words = append(words, binary.LittleEndian.Uint64(last[:]))
	}
	return words
}

func (m *matrix) add(id, bits []byte) {
	m.words = appendWords(m.words, bits)
	m.ids = append(m.ids, id...)
	m.ends = append(m.ends, uint32(len(m.ids)))
}

func (m *matrix) id(i int) string {
	from := uint32(0)
	if i > 0 {
		from = m.ends[i-1]
	}
	return string(m.ids[from:m.ends[i]])
}

// distances are the Hamming distances of q to every vector.
func (m *matrix) distances(q []uint64) []int32 {
	all := make([]int32, len(m.ends))
	for i := range all {
		row := m.words[i*len(q):][:len(q)]
		n := 0
		for j, w := range row {
			n += bits.OnesCount64(w ^ q[j])
		}
		all[i] = int32(n)
	}
	return all
}

// mark is where a View began.
type mark struct{ epoch, settled int64 }

// mark is taken before the View's transaction begins.
func (s *signs) mark() mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return mark{s.epoch, s.settled}
}

// renew has the active database read anew.
func (s *signs) renew(active *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	delete(s.held, active)
}

// add adds a vector of the active database, before its transaction commits.
func (s *signs) add(active *part, added sign) {
	if len(added.bits) != (added.space.dim+7)/8 { // one that cannot be compared
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.added) == keptSigns {
		s.added = append(s.added[:0], s.added[keptSigns/2:]...)
		s.before += keptSigns / 2
	}
	s.added = append(s.added, added)
	if h := s.held[active]; h != nil {
		h.add(added)
	}
}

func (h *held) add(a sign) {
	m := h.spaces[a.space]
	m.add([]byte(a.id), a.bits)
	h.spaces[a.space] = m
	h.since++
}

// settle says that no transaction is under way.
func (s *signs) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = s.before + int64(len(s.added))
}

// of returns the bits of the vectors of a space in the database i of a View.
func (s *signs) of(v *View, i int, c *conn, want space) (matrix, error) {
	if m, ok := s.kept(v.parts[i], want); ok {
		return m, nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if m, ok := s.kept(v.parts[i], want); ok {
		return m, nil
	}
	s.readings.Add(1)
	h := &held{gen: v.parts[i].gen.Load(), spaces: map[space]matrix{}}
	if err := h.load(v.ctx, c); err != nil {
		return matrix{}, err
	}
	s.keep(v, i, h)
	return h.spaces[want], nil
}

// kept is what is held already.
func (s *signs) kept(p *part, want space) (matrix, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[p]
	if h == nil || h.gen != p.gen.Load() || h.since > h.read/2+moreSigns {
		return matrix{}, false
	}
	return h.spaces[want], true
}

// keep keeps what a View has read, unless what came since is not known.
func (s *signs) keep(v *View, i int, h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.held, func(p *part, _ *held) bool { return !slices.Contains(v.parts, p) })
	if i == 0 {
		if v.mark.epoch != s.epoch || v.mark.settled < s.before {
			return
		}
		// The View goes on with h as it was read; others take the copies.
		spaces := maps.Clone(h.spaces)
		h = &held{gen: h.gen, spaces: spaces, read: h.read}
		for _, a := range s.added[v.mark.settled-s.before:] {
			h.add(a)
		}
	}
	if s.held == nil {
		s.held = map[*part]*held{}
	}
	s.held[v.parts[i]] = h
}

// load reads the bits of every vector that can be compared.
func (h *held) load(ctx context.Context, c *conn) error {
	return fail("read the bits of vectors", c.each(ctx, `SELECT memory_id, model, dim, bits FROM embedding
 WHERE length(vec) = dim AND length(bits) = (dim + 7) / 8`, nil, func(rows *sql.Rows) error {
		var id, model, bits sql.RawBytes
		var at space
		if err := rows.Scan(&id, &model, &at.dim, &bits); err != nil {
			return err
		}
		at.model = string(model)
		m := h.spaces[at]
		m.add(id, bits)
		h.spaces[at] = m
		h.read++
		return nil
	}))
}

// proposed are the rows of the n vectors of a space, over all databases, whose
// bits differ least from q's, and whether there are more. Some may not have such
// a vector any more.
func (v *View) proposed(q Vector, n int) (found []far, more bool, err error) {
	want := space{q.Model, len(q.Int8)}
	asked := appendWords(nil, q.bits())
	matrices := make([]matrix, len(v.parts))
	distances := make([][]int32, len(v.parts))
	counts := make([]int, 64*len(asked)+1) // by distance
	total := 0
	err = v.each(func(i int, c *conn) (err error) {
		if matrices[i], err = v.signs.of(v, i, c, want); err != nil {
			return err
		}
		distances[i] = matrices[i].distances(asked)
		for _, d := range distances[i] {
			counts[d]++
		}
		total += len(distances[i])
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	last, within := int32(0), counts[0]
	for within < min(n, total) {
		last++
		within += counts[last]
	}
	for i := range matrices {
		for j, d := range distances[i] {
			if d <= last {
				found = append(found, far{part: i, distance: int(d), id: matrices[i].id(j)})
			}
		}
	}
	slices.SortFunc(found, nearer)
	// A vector that was written twice stands there twice.
	return slices.Compact(found[:min(n, len(found))]), total > n, nil
}

package warm_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// TestModel runs random operations against the store and a map of what it
// should hold.
func TestModel(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		store := open(t, rdb, s.Prefix(t))
		runs := 0
		rapid.Check(t, func(rt *rapid.T) {
			// The embedded server takes about a millisecond a script.
			if runs++; runs > 20 && !s.Real {
				return
			}
			rdb.FlushDB(t.Context())
			m := model{t: t, rdb: rdb, store: store, held: map[uint16]row{}}
			rt.Repeat(map[string]func(*rapid.T){
				"create": m.create,
				"update": m.update,
				"delete": m.delete,
				"":       m.check,
			})
		})
	})
}

type row struct{ token, payload string }

type model struct {
	t     *testing.T
	rdb   *redis.Client
	store *warm.Store
	held  map[uint16]row
	stale []string // tokens that were current once
}

var (
	numbers  = rapid.SampledFrom([]uint16{0, 1, 2, 9, 10, 99, 65535})
	payloads = rapid.StringN(0, 20, -1)
)

func (m *model) create(rt *rapid.T) {
	number, payload := numbers.Draw(rt, "chunk"), payloads.Draw(rt, "payload")
	result, err := m.store.Create(m.t.Context(), users, number, []byte(payload))
	_, exists := m.held[number]
	m.wrote(rt, number, row{result.Token, payload}, err, !exists)
}

func (m *model) update(rt *rapid.T) {
	number, payload := numbers.Draw(rt, "chunk"), payloads.Draw(rt, "payload")
	expect := m.token(rt, number)
	result, err := m.store.Update(m.t.Context(), users, number, []byte(payload), expect)
	m.wrote(rt, number, row{result.Token, payload}, err, expect == m.held[number].token)
}

func (m *model) delete(rt *rapid.T) {
	number := numbers.Draw(rt, "chunk")
	expect := m.token(rt, number)
	_, err := m.store.Delete(m.t.Context(), users, number, expect)
	m.wrote(rt, number, row{}, err, expect == m.held[number].token)
}

// token draws the chunk's own token or one that is not current.
func (m *model) token(rt *rapid.T, number uint16) string {
	choices := append([]string{"never"}, m.stale...)
	if held, ok := m.held[number]; ok {
		return rapid.OneOf(rapid.Just(held.token), rapid.SampledFrom(choices)).Draw(rt, "token")
	}
	return rapid.SampledFrom(choices).Draw(rt, "token")
}

// wrote brings the model up to a write that should have gone through or not.
func (m *model) wrote(rt *rapid.T, number uint16, now row, err error, want bool) {
	if !want {
		if !errors.Is(err, storeerr.Conflict) {
			rt.Fatalf("chunk %d: %v, want a conflict", number, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("chunk %d: %v", number, err)
	}
	if old, ok := m.held[number]; ok {
		m.stale = append(m.stale, old.token)
	}
	delete(m.held, number)
	if now.token != "" {
		m.held[number] = now
	}
}

// check compares the list, and that index and hashes are the same chunks.
func (m *model) check(rt *rapid.T) {
	got := list(m.t, m.store, true)
	if want := slices.Sorted(maps.Keys(m.held)); !slices.Equal(got.numbers, want) || len(got.damaged) > 0 {
		rt.Fatalf("listed %v, damaged %v, want %v", got.numbers, got.damaged, want)
	}
	for number, held := range m.held {
		if chunk := got.chunks[number]; chunk.Token != held.token || string(chunk.Payload) != held.payload {
			rt.Fatalf("chunk %d is %+v, want %+v", number, chunk, held)
		}
	}
	keys := int64(len(m.held))
	if keys > 0 {
		keys++ // the index
	}
	if n := m.rdb.DBSize(m.t.Context()).Val(); n != keys {
		rt.Fatalf("%d keys, want %d", n, keys)
	}
}

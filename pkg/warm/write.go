package warm

// Reading one chunk, and the three conditional writes.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Outcome says what a write did.
type Outcome string

// The outcomes.
const (
	Created Outcome = "created"
	Updated Outcome = "updated"
	Deleted Outcome = "deleted"
)

// Result is what a write did.
type Result struct {
	Outcome Outcome
	Token   string // the chunk's token from now on; empty after a delete
	Now     int64  // the server's time in ms since the epoch; 0 when the answer was lost and the write found in place
}

// Get returns a chunk with its payload, in one round trip and as of one
// moment. It is storeerr.NotFound when there is none, and storeerr.Integrity
// when the key holds another type or lacks the token or the payload.
func (s *Store) Get(ctx context.Context, seg Segment, chunk uint16) (Chunk, error) {
	if err := seg.Check(); err != nil {
		return Chunk{}, err
	}
	l := lister{store: s, segment: seg, tag: s.tag(seg), payload: true}
	b := <-l.ask(ctx, []uint16{chunk})
	if b.err != nil {
		return Chunk{}, storeerr.FromRedis(b.err, storeerr.Reads, "reading "+describe(seg, chunk))
	}
	if len(b.reply) != 1 {
		return Chunk{}, l.unreadable(b.reply)
	}
	row, err := l.chunk(chunk, b.reply[0])
	if errors.Is(err, errMissing) {
		return Chunk{}, storeerr.New(storeerr.NotFound, "there is no %s", describe(seg, chunk))
	}
	return row, err
}

// Create writes a chunk that does not exist. It is storeerr.Conflict with a
// Mismatch when one does, and storeerr.Integrity when a key holds another
// type; neither changes anything. A lost answer is looked into as in Update.
func (s *Store) Create(ctx context.Context, seg Segment, chunk uint16, payload []byte) (Result, error) {
	return s.write(ctx, s.creation(seg, chunk, uuid.NewString(), payload), checkPayload(payload))
}

func (s *Store) creation(seg Segment, chunk uint16, token string, payload []byte) write {
	return write{
		outcome: Created, script: "warm_create", segment: seg, chunk: chunk, token: token,
		keys: []string{s.ChunkKey(seg, chunk), s.IndexKey(seg)},
		args: []any{strconv.Itoa(int(chunk)), token, payload},
	}
}

// Update overwrites a chunk whose token is the expected one. It is
// storeerr.Conflict with a Mismatch when the chunk has another token or does
// not exist, and storeerr.Integrity when it is damaged; neither changes
// anything.
//
// When the answer is lost, Update reads the chunk once, unless ctx was
// cancelled: finding the new token proves that the write went through.
// Finding anything else proves nothing, and is storeerr.UnknownOutcome.
func (s *Store) Update(ctx context.Context, seg Segment, chunk uint16, payload []byte, expect string) (Result, error) {
	w := write{outcome: Updated, script: "warm_update", segment: seg, chunk: chunk, token: uuid.NewString()}
	w.keys = []string{s.ChunkKey(seg, chunk), s.IndexKey(seg)}
	w.args = []any{expect, w.token, payload}
	return s.write(ctx, w, cmp.Or(checkPayload(payload), checkToken(expect)))
}

// Delete removes a chunk whose token is the expected one, with the errors of
// Update. After a lost answer it cannot be known who deleted the chunk.
func (s *Store) Delete(ctx context.Context, seg Segment, chunk uint16, expect string) (Result, error) {
	w := write{outcome: Deleted, script: "warm_delete", segment: seg, chunk: chunk}
	w.keys = []string{s.ChunkKey(seg, chunk), s.IndexKey(seg)}
	w.args = []any{strconv.Itoa(int(chunk)), expect}
	return s.write(ctx, w, checkToken(expect))
}

func checkPayload(payload []byte) error {
	if len(payload) > MaxPayloadBytes {
		return storeerr.New(storeerr.Invalid, "the payload has %d bytes, the limit is %d", len(payload), MaxPayloadBytes)
	}
	return nil
}

func checkToken(expect string) error {
	if expect == "" {
		return storeerr.New(storeerr.Invalid, "the expected token is empty")
	}
	return nil
}

// write is one run of a writing script.
type write struct {
	outcome Outcome
	script  string
	segment Segment
	chunk   uint16
	token   string // the new one, where the write brings one
	keys    []string
	args    []any
}

func (w write) doing() string {
	verb := map[Outcome]string{Created: "creating", Updated: "updating", Deleted: "deleting"}[w.outcome]
	return verb + " " + describe(w.segment, w.chunk)
}

func (s *Store) write(ctx context.Context, w write, invalid error) (Result, error) {
	if err := cmp.Or(w.segment.Check(), invalid); err != nil {
		return Result{}, err
	}
	reply, err := luascripts.Must(w.script).Run(ctx, s.rdb, w.keys, w.args...).StringSlice()
	return s.answer(ctx, w, reply, err)
}

// answer is what came of a write whose script gave a reply, or failed.
func (s *Store) answer(ctx context.Context, w write, reply []string, err error) (Result, error) {
	if err == nil {
		return w.result(reply)
	}
	err = storeerr.FromRedis(err, storeerr.Writes, w.doing())
	if w.token != "" && storeerr.AnswerLost(err) && s.wentThrough(ctx, w) {
		return Result{Outcome: w.outcome, Token: w.token}, nil
	}
	return Result{}, err
}

// result turns a script's answer into a Result or the error it stands for.
func (w write) result(reply []string) (Result, error) {
	if len(reply) < 2 {
		return Result{}, storeerr.New(storeerr.Failed, "%s: script %s answered %q", w.doing(), w.script, reply)
	}
	now, err := strconv.ParseInt(reply[1], 10, 64)
	if err != nil {
		return Result{}, storeerr.New(storeerr.Failed, "%s: script %s answered %q: %w", w.doing(), w.script, reply, err)
	}
	switch status := reply[0]; {
	case status == string(w.outcome):
		return Result{Outcome: w.outcome, Token: w.token, Now: now}, nil
	case status == "missing":
		return Result{}, w.conflict(&Mismatch{Missing: true})
	case status == "conflict" && len(reply) == 3:
		return Result{}, w.conflict(&Mismatch{Token: reply[2]})
	case status == "integrity" && len(reply) == 4:
		place, err := strconv.Atoi(reply[2])
		if err == nil && place >= 1 && place <= len(w.keys) {
			return Result{}, storeerr.New(storeerr.Integrity, "%s: %s", w.doing(), reply[3]).AtKey(w.keys[place-1])
		}
	}
	return Result{}, storeerr.New(storeerr.Failed, "%s: script %s answered %q", w.doing(), w.script, reply)
}

func (w write) conflict(found *Mismatch) error {
	return storeerr.New(storeerr.Conflict, "%s: %w", w.doing(), found).AtKey(w.keys[0])
}

// recheckTime bounds the look after a lost answer.
const recheckTime = 2 * time.Second

// wentThrough tells whether the write's own token is in place.
func (s *Store) wentThrough(ctx context.Context, w write) bool {
	if errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recheckTime)
	defer cancel()
	token, err := s.rdb.HGet(ctx, w.keys[0], "t").Result()
	return err == nil && token == w.token
}

func describe(seg Segment, chunk uint16) string {
	return fmt.Sprintf("chunk %d of segment %q", chunk, seg)
}

// What warm_list says in place of a chunk.
const (
	missing   = "missing"
	foreign   = "foreign"
	noToken   = "no_token"
	noPayload = "no_payload"
)

func (s *Store) damaged(seg Segment, chunk uint16, damage string) error {
	words := map[string]string{foreign: "is no hash", noToken: "has no token", noPayload: "has no payload"}[damage]
	return storeerr.New(storeerr.Integrity, "%s %s", describe(seg, chunk), words).AtKey(s.ChunkKey(seg, chunk))
}

// What the contract says to the facts of a segment.

package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// script is the mend by a script.
func (w *warmChecks) script(name string, keys []string, args ...any) mend {
	return func(ctx context.Context) (Outcome, error) { return runMend(ctx, w.rdb, name, keys, args...) }
}

// judgeIndex returns what is wrong with the index of a segment itself.
func (w *warmChecks) judgeIndex(seg warm.Segment, f indexFacts) []Finding {
	key := w.store.IndexKey(seg)
	at := func(code Code, expected, found string) Finding {
		finding := code.finding(w.prefix, key, expected, found)
		finding.Segment = &seg
		return finding
	}
	var all []Finding
	if f.kind != "zset" && f.kind != "none" {
		all = append(all, at(WarmIndexType, "a zset", "a "+f.kind).mended(w.script("warm_repair_index", []string{key})))
	}
	if f.ttl >= 0 {
		all = append(all, at(WarmTTL, "no TTL", fmt.Sprintf("%d ms to live", f.ttl)).mended(w.script("repair_ttl", []string{key})))
	}
	return all
}

// judgeMember returns the finding of a member of the index that is no number of
// a chunk.
func (w *warmChecks) judgeMember(seg warm.Segment, member string, f chunkFacts) Finding {
	index := w.store.IndexKey(seg)
	finding := WarmIndexMember.finding(w.prefix, index, "a number from 0 to 65535 in plain decimal", fmt.Sprintf("%.100q", member))
	finding.Segment, finding.Member = &seg, member
	if f.kind != "none" {
		return finding
	}
	return finding.mended(w.script("warm_repair_entry", []string{w.memberKey(seg, member), index}, member, ""))
}

// judgeChunk returns what is wrong with a chunk and its entry in the index.
// Beside an index of another type entries are not spoken of.
func (w *warmChecks) judgeChunk(seg warm.Segment, n uint16, index indexFacts, f chunkFacts) []Finding {
	c := warmChunk{warmChecks: w, segment: seg, number: n, keys: []string{w.store.ChunkKey(seg, n), w.store.IndexKey(seg)}}
	switch f.kind {
	case "none":
		if f.score != "" {
			c.entry(WarmIndexOrphan, "no entry without a chunk", fmt.Sprintf("an entry %d, and no chunk", n), true)
		}
		return c.findings
	case "hash":
		c.judgeFields(f)
		c.judgePayload(f)
	default:
		c.add(WarmChunkType, "a hash", "a "+f.kind, c.repair("type"))
	}
	if f.ttl >= 0 {
		c.add(WarmTTL, "no TTL", fmt.Sprintf("%d ms to live", f.ttl), w.script("repair_ttl", c.keys[:1]))
	}
	if sound := f.tokenLength >= 0 && f.length >= 0; f.kind == "hash" && (index.kind == "zset" || index.kind == "none") {
		c.judgeEntry(f.score, sound)
	}
	return c.findings
}

// warmChunk gathers what is wrong with one chunk.
type warmChunk struct {
	*warmChecks
	segment  warm.Segment
	number   uint16
	keys     []string // chunk, index
	findings []Finding
}

func (c *warmChunk) add(code Code, expected, found string, by mend) {
	f := code.finding(c.prefix, c.keys[0], expected, found)
	f.Segment, f.Chunk = &c.segment, &c.number
	if by != nil {
		f = f.mended(by)
	}
	c.findings = append(c.findings, f)
}

// entry adds a finding about the entry in the index.
func (c *warmChunk) entry(code Code, expected, found string, mendable bool) {
	var by mend
	if number := strconv.Itoa(int(c.number)); mendable {
		by = c.script("warm_repair_entry", c.keys, number, number)
	}
	c.add(code, expected, found, by)
	c.findings[len(c.findings)-1].RedisKey = c.keys[1]
}

// repair returns the mend of a damage that warm_repair_chunk knows.
func (c *warmChunk) repair(damage string) mend {
	return c.script("warm_repair_chunk", c.keys, strconv.Itoa(int(c.number)), damage, uuid.NewString())
}

func (c *warmChunk) judgeEntry(score string, sound bool) {
	if score == "" {
		c.entry(WarmIndexMissing, fmt.Sprintf("an entry %d for the chunk", c.number), "none", sound)
		return
	}
	if n, err := strconv.ParseFloat(score, 64); err != nil || n != float64(c.number) {
		c.entry(WarmIndexScore, fmt.Sprintf("entry %d of score %d", c.number, c.number), "score "+score, sound)
	}
}

func (c *warmChunk) judgeFields(f chunkFacts) {
	known := int64(0)
	if f.tokenLength >= 0 {
		known++
		if !isUUIDv4(f.token) {
			c.add(WarmTokenForm, "a UUID of version 4", tokenFound(f), nil)
		}
	} else {
		c.add(WarmTokenMissing, "a field t", "none", c.repair("token"))
	}
	if f.length >= 0 {
		known++
	}
	if f.fields > known {
		found := fmt.Sprintf("%d more", f.fields-known)
		if others := slices.DeleteFunc(slices.Clone(f.names), func(name string) bool { return name == "t" || name == "b" }); len(others) > 0 {
			found = fmt.Sprintf("also %.200s", strings.Trim(fmt.Sprintf("%q", others), "[]"))
		}
		c.add(WarmFields, "the fields t and b", found, nil)
	}
}

func isUUIDv4(token string) bool {
	id, err := uuid.Parse(token)
	return err == nil && len(token) == len(id.String()) && id.Version() == 4 && id.Variant() == uuid.RFC4122
}

func tokenFound(f chunkFacts) string {
	if int64(len(f.token)) != f.tokenLength {
		return fmt.Sprintf("%d bytes", f.tokenLength)
	}
	return strconv.Quote(f.token)
}

func (c *warmChunk) judgePayload(f chunkFacts) {
	const delta = "a delta of version 1"
	switch {
	case f.length < 0:
		c.add(WarmPayloadMissing, "a field b", "none", c.repair("payload"))
	case f.length > warm.MaxPayloadBytes:
		c.add(WarmPayloadLength, fmt.Sprintf("at most %d bytes", warm.MaxPayloadBytes), fmt.Sprintf("%d bytes", f.length), nil)
	case c.options.NoPayload:
	case f.length == 0:
		c.add(WarmPayloadUnknown, delta, "no bytes", nil)
	default:
		_, err := warm.DecodeDelta(f.payload)
		if err == nil {
			return
		}
		code := WarmPayloadDamaged
		switch {
		case errors.Is(err, warm.ErrUnsupported):
			code = WarmPayloadUnknown
		case errors.Is(err, warm.ErrTooLong):
			code = WarmPayloadLength
		case errors.Is(err, warm.ErrOverlap):
			code = WarmPayloadOverlap
		}
		c.add(code, delta, fmt.Sprintf("%d bytes: %s", f.length, reason(err)), nil)
	}
}

// reason is what is wrong, without the words that say where.
func reason(err error) string {
	for {
		e, ok := errors.AsType[*storeerr.Error](err)
		if !ok {
			return err.Error()
		}
		if e.Err == nil {
			return e.Message
		}
		err = e.Err
	}
}

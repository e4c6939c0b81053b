// The codes of the warm store.

package verify

// The codes of the warm store.
const (
	WarmIndexType      Code = "warm-index-type"
	WarmChunkType      Code = "warm-chunk-type"
	WarmTTL            Code = "warm-ttl"
	WarmTokenMissing   Code = "warm-token-missing"
	WarmPayloadMissing Code = "warm-payload-missing"
	WarmPayloadLength  Code = "warm-payload-length"
	WarmPayloadDamaged Code = "warm-payload-damaged"
	WarmPayloadOverlap Code = "warm-payload-overlap"
	WarmIndexMissing   Code = "warm-index-missing"
	WarmIndexOrphan    Code = "warm-index-orphan"
	WarmIndexScore     Code = "warm-index-score"
	WarmIndexMember    Code = "warm-index-member"
	WarmPayloadUnknown Code = "warm-payload-unknown"
	WarmTokenForm      Code = "warm-token-form"
	WarmFields         Code = "warm-fields"
	WarmUnknownKey     Code = "warm-unknown-key"
)

// warmCodes is in the order of the constants: worst first.
func warmCodes() []Entry {
	const rewrite = "nothing: what was meant is not known; `warm cas --expect` brings a good payload, `warm delete --expect` ends the chunk"
	return []Entry{
		{WarmIndexType, StoreWarm, Error, "the index of a segment is no sorted set: lists fail, and writes of new chunks", Named, "deletes the key; the index is then made again from the chunks"},
		{WarmChunkType, StoreWarm, Error, "a chunk is no hash: every operation on it fails", Named, "deletes the key, and its entry in the index"},
		{WarmTTL, StoreWarm, Error, "a chunk or an index has a TTL: it will vanish, and the other will stay", Safe, "takes the TTL away"},
		{WarmTokenMissing, StoreWarm, Error, "a chunk has no token: reads and writes of it fail", Named, "gives the chunk a new token, and its entry in the index"},
		{WarmPayloadMissing, StoreWarm, Error, "a chunk has no payload: reads of it fail", Named, "deletes the chunk, and its entry in the index"},
		{WarmPayloadLength, StoreWarm, Error, "a payload is longer than any reader takes: 1 MiB each half, 2,097,157 bytes together", None, rewrite},
		{WarmPayloadDamaged, StoreWarm, Error, "a payload of version 1 does not decode", None, rewrite},
		{WarmPayloadOverlap, StoreWarm, Error, "a payload both adds and removes an id", None, rewrite},
		{WarmIndexMissing, StoreWarm, Error, "a chunk is not in the index: lists do not show it", Safe, "makes the entry again from the chunk, if it has a token and a payload"},
		{WarmIndexOrphan, StoreWarm, Error, "the index names a chunk that does not exist", Safe, "drops the entry, if there still is no chunk"},
		{WarmIndexScore, StoreWarm, Error, "an entry of the index has a score other than its number: lists are out of order", Safe, "sets the score to the number"},
		{WarmIndexMember, StoreWarm, Error, "a member of the index is no number from 0 to 65535 in plain decimal", Safe, "drops the member, unless a key has its name"},
		{WarmPayloadUnknown, StoreWarm, Warning, "a payload is none of version 1: the store takes it, readers of bitmaps do not", None, "nothing: it may be meant so"},
		{WarmTokenForm, StoreWarm, Warning, "a token is no random UUID (version 4): it may come a second time", None, "nothing: the next write of the chunk brings a good one"},
		{WarmFields, StoreWarm, Warning, "a chunk has fields besides t and b", None, "nothing: it is not known whose they are"},
		{WarmUnknownKey, StoreWarm, Warning, "a key under the store's own name that is none of its keys", None, "nothing: it is not known whose it is"},
	}
}

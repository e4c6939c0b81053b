// The codes of the blob store.

package verify

// The codes of the blob store.
const (
	BlobType            Code = "blob-type"
	BlobNoTTL           Code = "blob-no-ttl"
	BlobLength          Code = "blob-length"
	BlobFrame           Code = "blob-frame"
	BlobFrameCRC        Code = "blob-frame-crc"
	BlobManifestMissing Code = "blob-manifest-missing"
	BlobManifestChunk   Code = "blob-manifest-chunk"
	BlobManifestOrder   Code = "blob-manifest-order"
	BlobManifestLength  Code = "blob-manifest-length"
	BlobManifestDigest  Code = "blob-manifest-digest"
	BlobReference       Code = "blob-reference"
)

// blobCodes is in the order of the constants: worst first.
func blobCodes() []Entry {
	const (
		bytes = "nothing: the right bytes are not known; `blob delete`, then put it again from where it came"
		whole = "nothing: the payload has to be stored again from where it came"
	)
	return []Entry{
		{BlobType, StoreBlob, Error, "a blob is no string: every operation on it fails", None, "nothing: it is not known whose it is"},
		{BlobNoTTL, StoreBlob, Error, "a blob has no TTL: it stays for ever", None, "nothing: how long it is meant to last is not known; `blob renew --retention` says it"},
		{BlobLength, StoreBlob, Error, "a blob is longer than any reader takes: 67,108,887 bytes", None, bytes},
		{BlobFrame, StoreBlob, Error, "a blob begins as a frame does and is no whole one", None, bytes},
		{BlobFrameCRC, StoreBlob, Error, "the CRC-32C of a frame is wrong: its bytes have changed", None, bytes},
		{BlobManifestMissing, StoreBlob, Error, "a manifest names chunks that do not exist: the payload cannot be put together", None, whole},
		{BlobManifestChunk, StoreBlob, Error, "chunks of a manifest differ from what it says of them: order, length or CRC-32C", None, whole},
		{BlobManifestOrder, StoreBlob, Error, "the chunks of a manifest are not in ascending order", None, whole},
		{BlobManifestLength, StoreBlob, Error, "the chunks of a manifest have another length together than it says", None, whole},
		{BlobManifestDigest, StoreBlob, Error, "the chunks of a manifest are what it says, and the whole is not: CRC-32C or SHA-256", None, whole},
		{BlobReference, StoreBlob, Warning, "a key whose reference is none: 1 to 4,096 bytes of UTF-8", None, "nothing: it cannot be read by its reference"},
	}
}

// The codes of the blob store.

package verify

func blobCodes() []Entry { return nil }

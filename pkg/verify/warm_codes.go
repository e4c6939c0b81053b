// The codes of the warm store.

package verify

func warmCodes() []Entry { return nil }

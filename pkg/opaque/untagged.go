// The members of an older layout: v3 without a format tag. They are read, and
// never written.

package opaque

import "errors"

// UntaggedByte is the first byte of every member without a format tag, where
// others have their tag: the head of a MessagePack array of five.
const UntaggedByte = 0x95

// ErrExpiry says that the expiry of an untagged member is none that its layout
// has.
var ErrExpiry = errors.New("the expiry is neither -1 nor a moment")

// DecodeUntagged reads a member without a format tag: the array of a member,
// with -1 for never, and 0 or 1 where others have false or true, which are
// read too. The value is as it stands: in some stores it is base64 text, and
// nothing in a member tells which. The error is ErrUnknownTag, ErrMalformed or
// ErrExpiry. Strings of the result share s's memory.
func DecodeUntagged(s string) (Member, error) {
	if len(s) == 0 || s[0] != UntaggedByte {
		return Member{}, ErrUnknownTag
	}
	d := decoder{rest: s}
	d.array5()
	m := Member{Key: d.str(), Value: d.str(), Version: d.str()}
	expiry, ok := d.untaggedExpiry()
	m.ExpiresAt, m.Tombstone = expiry, d.flag()
	switch {
	case d.failed || d.rest != "":
		return Member{}, ErrMalformed
	case !ok:
		return Member{}, ErrExpiry
	}
	return m, nil
}

// untaggedExpiry reads a signed or unsigned integer: -1 is never, and 0 would
// be mistaken for that.
func (d *decoder) untaggedExpiry() (ms int64, ok bool) {
	if d.rest == "" {
		d.failed = true
		return 0, false
	}
	switch tag := d.rest[0]; {
	case tag >= 0xe0:
		return 0, int8(d.byte()) == -1
	case tag >= 0xd0 && tag <= 0xd3:
		d.byte()
		width := 1 << (tag - 0xd0)
		unused := 64 - 8*width
		ms = int64(d.bigEndian(width)<<unused) >> unused
	default:
		ms = saturate(d.uint())
	}
	if ms == -1 {
		return 0, true
	}
	return ms, ms > 0
}

// flag reads 0, 1, false or true.
func (d *decoder) flag() bool {
	if d.rest != "" && (d.rest[0] == 0xc2 || d.rest[0] == 0xc3) {
		return d.boolean()
	}
	n := d.uint()
	if n > 1 {
		d.failed = true
	}
	return n == 1
}

package opaque

import (
	"errors"

	"github.com/tinylib/msgp/msgp"
)

// formatTag is the first byte of every member.
const formatTag = 0x01

// Member is one version of a row, as a row's sorted set holds it.
type Member struct {
	Key       string // logical key
	Value     string // raw bytes, empty in a tombstone
	Version   string // opaque to readers
	ExpiresAt int64  // ms since the epoch, 0 = never; larger numbers than an int64 holds are cut to it
	Tombstone bool
}

// LiveAt tells whether the member, being the newest of its row, makes the row
// live at a moment in ms.
func (m Member) LiveAt(now int64) bool {
	return !m.Tombstone && (m.ExpiresAt == 0 || m.ExpiresAt > now)
}

// Append appends the member's bytes: the format tag and a MessagePack array of
// five, strings of the str family, integers in their shortest unsigned form.
func (m Member) Append(b []byte) []byte {
	b = appendHead(b, m.Key, m.Value)
	b = msgp.AppendString(b, m.Version)
	b = msgp.AppendUint64(b, uint64(m.ExpiresAt))
	return msgp.AppendBool(b, m.Tombstone)
}

// appendHead appends what of a member is known before it is written.
func appendHead(b []byte, key, value string) []byte {
	b = append(b, formatTag)
	b = msgp.AppendArrayHeader(b, 5)
	b = msgp.AppendString(b, key)
	return msgp.AppendString(b, value)
}

// The ways in which bytes are no member.
var (
	// ErrUnknownTag says that the first byte is not the format tag.
	ErrUnknownTag = errors.New("unknown format tag")
	// ErrMalformed says that what follows the tag is not a member's array.
	ErrMalformed = errors.New("the body does not decode")
)

// DecodeMember reads a member's bytes. The error is ErrUnknownTag or
// ErrMalformed; it never guesses. Strings of the result share s's memory.
func DecodeMember(s string) (Member, error) {
	if len(s) == 0 || s[0] != formatTag {
		return Member{}, ErrUnknownTag
	}
	d := decoder{rest: s[1:]}
	d.array5()
	m := Member{
		Key:       d.str(),
		Value:     d.str(),
		Version:   d.str(),
		ExpiresAt: saturate(d.uint()),
		Tombstone: d.boolean(),
	}
	if d.failed || d.rest != "" {
		return Member{}, ErrMalformed
	}
	return m, nil
}

// decoder reads the few MessagePack forms that a member may have. It is here,
// beside the library that writes them, because it shares the memory of the
// reply and is as strict as lib/member.lua: str and unsigned families only.
type decoder struct {
	rest   string
	failed bool
}

func (d *decoder) array5() {
	if d.byte() != 0x95 {
		d.failed = true
	}
}

func (d *decoder) str() string {
	tag := d.byte()
	var length uint64
	switch {
	case tag >= 0xa0 && tag <= 0xbf:
		length = uint64(tag - 0xa0)
	case tag >= 0xd9 && tag <= 0xdb:
		length = d.bigEndian(1 << (tag - 0xd9))
	default:
		d.failed = true
	}
	if d.failed || length > uint64(len(d.rest)) {
		d.failed = true
		return ""
	}
	s := d.rest[:length]
	d.rest = d.rest[length:]
	return s
}

func (d *decoder) uint() uint64 {
	tag := d.byte()
	switch {
	case tag < 0x80:
		return uint64(tag)
	case tag >= 0xcc && tag <= 0xcf:
		return d.bigEndian(1 << (tag - 0xcc))
	}
	d.failed = true
	return 0
}

func (d *decoder) boolean() bool {
	tag := d.byte()
	if tag != 0xc2 && tag != 0xc3 {
		d.failed = true
	}
	return tag == 0xc3
}

func (d *decoder) byte() byte { return byte(d.bigEndian(1)) }

func (d *decoder) bigEndian(width int) uint64 {
	if len(d.rest) < width {
		d.failed = true
		return 0
	}
	var n uint64
	for i := range width {
		n = n<<8 | uint64(d.rest[i])
	}
	d.rest = d.rest[width:]
	return n
}

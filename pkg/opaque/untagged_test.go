// Members without a format tag, byte by byte.

package opaque

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestDecodeUntagged(t *testing.T) {
	t.Parallel()
	const guid = "0123456789abcdef0123456789abcdef"
	// The parts of a member: fixstr is 0xa0 + length.
	const head, key, value, version = "\x95", "\xa1k", "\xa2\x00v", "\xa17"
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		bytes string
		want  Member
	}{
		"never":            {head + key + value + version + "\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"never as int8":    {head + key + value + version + "\xd0\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"never as int16":   {head + key + value + version + "\xd1\xff\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"never as int32":   {head + key + value + version + "\xd2\xff\xff\xff\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"never as int64":   {head + key + value + version + "\xd3\xff\xff\xff\xff\xff\xff\xff\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"false and true":   {head + key + value + version + "\xff\xc2", Member{Key: "k", Value: "\x00v", Version: "7"}},
		"tombstone":        {head + key + "\xa0\xa0\xff\x01", Member{Key: "k", Tombstone: true}},
		"tombstone true":   {head + key + "\xa0\xa0\xff\xc3", Member{Key: "k", Tombstone: true}},
		"tombstone uint8":  {head + key + "\xa0\xa0\xff\xcc\x01", Member{Key: "k", Tombstone: true}},
		"guid":             {head + key + value + "\xd9\x20" + guid + "\xff\x00", Member{Key: "k", Value: "\x00v", Version: guid}},
		"guid as str16":    {head + key + value + "\xda\x00\x20" + guid + "\xff\x00", Member{Key: "k", Value: "\x00v", Version: guid}},
		"uint64 expiry":    {head + key + value + version + "\xcf\x00\x00\x01\x9b\x00\x00\x00\x01\x00", Member{Key: "k", Value: "\x00v", Version: "7", ExpiresAt: 0x19b00000001}},
		"int64 expiry":     {head + key + value + version + "\xd3\x00\x00\x01\x9b\x00\x00\x00\x01\x00", Member{Key: "k", Value: "\x00v", Version: "7", ExpiresAt: 0x19b00000001}},
		"fixint expiry":    {head + key + value + version + "\x01\x00", Member{Key: "k", Value: "\x00v", Version: "7", ExpiresAt: 1}},
		"saturated expiry": {head + key + value + version + "\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x00", Member{Key: "k", Value: "\x00v", Version: "7", ExpiresAt: math.MaxInt64}},
		"str16 value":      {head + key + "\xda\x01\x2c" + long + version + "\xff\x00", Member{Key: "k", Value: long, Version: "7"}},
	} {
		if got, err := DecodeUntagged(c.bytes); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
		if _, err := DecodeMember(c.bytes); !errors.Is(err, ErrUnknownTag) {
			t.Errorf("%s: read as a tagged member: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		bytes string
		want  error
	}{
		"nothing":           {"", ErrUnknownTag},
		"tagged":            {"\x01\x95\xa1k\xa1v\xa17\x00\xc2", ErrUnknownTag},
		"array of four":     {"\x94\xa1k\xa1v\xa17\xff", ErrUnknownTag},
		"head alone":        {head, ErrMalformed},
		"no expiry":         {head + key + value + version, ErrMalformed},
		"no tombstone":      {head + key + value + version + "\xff", ErrMalformed},
		"more behind":       {head + key + value + version + "\xff\x00\x00", ErrMalformed},
		"bin value":         {head + key + "\xc4\x01v" + version + "\xff\x00", ErrMalformed},
		"number as version": {head + key + value + "\x07\xff\x00", ErrMalformed},
		"float expiry":      {head + key + value + version + "\xcb\x42\x79\xb0\x00\x00\x00\x00\x00\x00", ErrMalformed},
		"nil expiry":        {head + key + value + version + "\xc0\x00", ErrMalformed},
		"tombstone 2":       {head + key + value + version + "\xff\x02", ErrMalformed},
		"tombstone -1":      {head + key + value + version + "\xff\xff", ErrMalformed},
		"cut int64":         {head + key + value + version + "\xd3\x00\x00", ErrMalformed},
		"expiry 0":          {head + key + value + version + "\x00\x00", ErrExpiry},
		"expiry -2":         {head + key + value + version + "\xfe\x00", ErrExpiry},
		"expiry -2 int16":   {head + key + value + version + "\xd1\xff\xfe\x00", ErrExpiry},
	} {
		if got, err := DecodeUntagged(c.bytes); !errors.Is(err, c.want) || got != (Member{}) {
			t.Errorf("%s: %+v, %v; want %v", name, got, err, c.want)
		}
	}
}

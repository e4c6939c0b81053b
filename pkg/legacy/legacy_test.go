// Tests of the decoders, on fixtures written byte by byte.
package legacy_test

import (
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

const (
	guid   = "0123456789abcdef0123456789abcdef"
	sumOfA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
)

func TestDecodeMember(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes     string
		want      opaque.Member
		ambiguous bool
	}{
		"bytes":             {"\x95\xa1a\xa2\x00b\xd9\x20" + guid + "\xff\x00", opaque.Member{Key: "a", Value: "\x00b", Version: guid}, false},
		"base64 or text":    {"\x95\xa1a\xa4aGk=\xa17\xff\x00", opaque.Member{Key: "a", Value: "aGk=", Version: "7"}, true},
		"a word of four":    {"\x95\xa1a\xa4busy\xa17\xff\x00", opaque.Member{Key: "a", Value: "busy", Version: "7"}, true},
		"base64 of no bits": {"\x95\xa1a\xa4aGl=\xa17\xff\x00", opaque.Member{Key: "a", Value: "aGl=", Version: "7"}, false},
		"empty":             {"\x95\xa1a\xa0\xa17\xff\x00", opaque.Member{Key: "a", Version: "7"}, false},
		"tombstone":         {"\x95\xa1a\xa0\xa0\xff\x01", opaque.Member{Key: "a", Tombstone: true}, false},
		"tombstone true":    {"\x95\xa1a\xa0\xa18\xff\xc3", opaque.Member{Key: "a", Version: "8", Tombstone: true}, false},
		"expires":           {"\x95\xa1a\xa0\xa17\xcf\x00\x00\x01\x9b\x00\x00\x00\x00\x00", opaque.Member{Key: "a", Version: "7", ExpiresAt: 0x19b00000000}, false},
	} {
		got, ambiguous, err := legacy.DecodeMember(c.bytes)
		if err != nil || got != c.want || ambiguous != c.ambiguous {
			t.Errorf("%s: %+v, %v, %v; want %+v, %v", name, got, ambiguous, err, c.want, c.ambiguous)
		}
	}
	for name, bytes := range map[string]string{
		"tagged":                "\x01\x95\xa1a\xa0\xa17\x00\xc2",
		"no version":            "\x95\xa1a\xa0\xa0\xff\x00",
		"tombstone with a body": "\x95\xa1a\xa1x\xa0\xff\x01",
		"cut off":               "\x95\xa1a\xa1x\xa0\xff",
	} {
		if got, ambiguous, err := legacy.DecodeMember(bytes); err == nil || ambiguous || got != (opaque.Member{}) {
			t.Errorf("%s: %+v, %v, %v", name, got, ambiguous, err)
		}
	}
}

func TestDecodeBase64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "AP8=": "\x00\xff", "YWJj": "abc", "+/+/": "\xfb\xff\xbf"} {
		if got, err := legacy.DecodeBase64(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"YQ", "YQ=", "YR==", "YWJj\n", "YW\nJj", "-_-_", "YWJj=", " YWJj", "é"} {
		if got, err := legacy.DecodeBase64(text); err == nil {
			t.Errorf("%q decodes to %q", text, got)
		}
	}
}

// fields is the hash of field, value and so on.
func fields(pairs ...string) map[string]string {
	hash := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		hash[pairs[i]] = pairs[i+1]
	}
	return hash
}

// outcome is what a decoder is held to: a record, or a part of its error.
type outcome struct {
	record legacy.Record
	fails  string
}

func (o outcome) check(t *testing.T, name string, got legacy.Record, err error) {
	t.Helper()
	switch {
	case o.fails == "" && (err != nil || got != o.record):
		t.Errorf("%s: %+v, %v; want %+v", name, got, err, o.record)
	case o.fails != "" && (err == nil || !strings.Contains(err.Error(), o.fails) || got != legacy.Record{}):
		t.Errorf("%s: %+v, %v; want an error with %q", name, got, err, o.fails)
	}
}

func TestDecodeRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hash map[string]string
		want outcome
	}{
		"lasts":     {fields("key", "a", "bytes", "AP8=", "version", "7", "expiresAtMs", "0"), outcome{record: legacy.Record{Key: "a", Value: "\x00\xff", Version: "7"}}},
		"expires":   {fields("key", "a", "bytes", "", "version", guid, "expiresAtMs", "1800000000000"), outcome{record: legacy.Record{Key: "a", Version: guid, ExpiresAt: 1800000000000}}},
		"nothing":   {nil, outcome{fails: `no field "key"`}},
		"no expiry": {fields("key", "a", "bytes", "", "version", "7"), outcome{fails: `no field "expiresAtMs"`}},
		"more":      {fields("key", "a", "bytes", "", "version", "7", "expiresAtMs", "0", "x", ""), outcome{fails: "more fields"}},
		"raw":       {fields("key", "a", "bytes", "\x00", "version", "7", "expiresAtMs", "0"), outcome{fails: "no base64"}},
		"-1":        {fields("key", "a", "bytes", "", "version", "7", "expiresAtMs", "-1"), outcome{fails: `expiresAtMs is "-1"`}},
		"+1":        {fields("key", "a", "bytes", "", "version", "7", "expiresAtMs", "+1"), outcome{fails: `expiresAtMs is "+1"`}},
		"of b":      {fields("key", "b", "bytes", "", "version", "7", "expiresAtMs", "0"), outcome{fails: "another key"}},
		"unversed":  {fields("key", "a", "bytes", "", "version", "", "expiresAtMs", "0"), outcome{fails: "the version has 0 bytes"}},
	} {
		got, err := legacy.DecodeRecord(sumOfA, c.hash)
		c.want.check(t, name, got, err)
	}
}

func TestDecodeIndexEntry(t *testing.T) {
	t.Parallel()
	want := legacy.Record{Key: "a", Value: "hi", Version: "7", ExpiresAt: 1800000000000}
	for text, want := range map[string]outcome{
		`["aGk=","7",1800000000000]`:     {record: want},
		`["aGk=",7,"1800000000000"]`:     {record: want},
		` [ "aGk=" , "7" , 0 ] `:         {record: legacy.Record{Key: "a", Value: "hi", Version: "7"}},
		`["aGk=","7"]`:                   {fails: "no JSON array of three"},
		`["aGk=","7",0,0]`:               {fails: "no JSON array of three"},
		`{"bytes":"aGk="}`:               {fails: "no JSON array of three"},
		`["aGk=","7",0`:                  {fails: "no JSON array of three"},
		`["aGk=","7",0] x`:               {fails: "no JSON array of three"},
		`[17,"7",0]`:                     {fails: "item 1"},
		`["aGk=",null,0]`:                {fails: "item 2"},
		`["aGk=","7",1.5]`:               {fails: "item 3"},
		`["aGk=","7",-1]`:                {fails: "item 3"},
		`["aGk=","7",[]]`:                {fails: "item 3"},
		`["aGk=","7",""]`:                {fails: "expiresAtMs"},
		`["hi!","7",0]`:                  {fails: "no base64"},
		`["aGk=","",0]`:                  {fails: "the version has 0 bytes"},
		`["aGk=","7",99999999999999999]`: {record: legacy.Record{Key: "a", Value: "hi", Version: "7", ExpiresAt: 99999999999999999}},
	} {
		got, err := legacy.DecodeIndexEntry("a", text)
		want.check(t, text, got, err)
	}
}

func TestDecodeTagless(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hash map[string]string
		want outcome
	}{
		"row":       {fields("bytes", "\x00", "version", "7"), outcome{record: legacy.Record{Key: "a", Value: "\x00", Version: "7", ExpiresAt: 5}}},
		"no bytes":  {fields("version", "7"), outcome{fails: `no field "bytes"`}},
		"foreign":   {fields("bytes", "", "version", "7", "other", ""), outcome{fails: "more fields"}},
		"unversed":  {fields("bytes", "", "version", ""), outcome{fails: "the version has 0 bytes"}},
		"oversized": {fields("bytes", "", "version", strings.Repeat("x", 4097)), outcome{fails: "the version has 4097 bytes"}},
	} {
		got, err := legacy.DecodeTagless("a", c.hash, 5)
		c.want.check(t, name, got, err)
	}
}

func TestDecodeBlob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hash map[string]string
		want outcome
	}{
		"blob":    {fields("reference", "a", "bytes", "\x00=", "expiresAtMs", "1800000000000"), outcome{record: legacy.Record{Key: "a", Value: "\x00=", ExpiresAt: 1800000000000}}},
		"lasts":   {fields("reference", "a", "bytes", "", "expiresAtMs", "0"), outcome{fails: "never expires"}},
		"of b":    {fields("reference", "b", "bytes", "", "expiresAtMs", "1"), outcome{fails: "another key"}},
		"empty":   {fields("reference", "", "bytes", "", "expiresAtMs", "1"), outcome{fails: "the reference is none"}},
		"no UTF8": {fields("reference", "\xff", "bytes", "", "expiresAtMs", "1"), outcome{fails: "the reference is none"}},
		"partial": {fields("reference", "a", "expiresAtMs", "1"), outcome{fails: `no field "bytes"`}},
	} {
		got, err := legacy.DecodeBlob(sumOfA, c.hash)
		c.want.check(t, name, got, err)
	}
}

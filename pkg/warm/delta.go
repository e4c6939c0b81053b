package warm

// Deltas: the bitmaps that applications keep in payloads.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	deltaVersion   = 1
	deltaHeadBytes = 1 + 4 // version, length of the adds
	maxHalfBytes   = 1 << 20
)

// What is in the chain of an error of DecodeDelta.
var (
	ErrUnsupported = errors.New("unsupported delta version")         // a payload of another version
	ErrTooLong     = errors.New("longer than 1 MiB")                 // a half of the payload
	ErrOverlap     = errors.New("a value is both added and removed") // nothing else is wrong
)

// Delta is a decoded payload: values 0 to 65,535 to add and to remove, none in
// both.
type Delta struct {
	Adds    *roaring.Bitmap
	Removes *roaring.Bitmap
}

// ID returns the id that a value stands for in a chunk.
func ID(chunk uint16, value uint16) uint32 { return uint32(chunk)<<16 | uint32(value) }

// IDs returns the ids that the values of a bitmap stand for in a chunk,
// ascending.
func IDs(chunk uint16, values *roaring.Bitmap) []uint32 {
	ids := values.ToArray()
	for i, value := range ids {
		ids[i] = ID(chunk, uint16(value))
	}
	return ids
}

// DecodeDelta decodes a payload. Another version byte than 1 is
// ErrUnsupported of kind storeerr.Failed. It is storeerr.Integrity when the
// payload is malformed or too long (ErrTooLong), when a value is out of range,
// and when adds and removes overlap (ErrOverlap).
func DecodeDelta(payload []byte) (Delta, error) {
	delta, err := decodeDelta(payload)
	switch {
	case errors.Is(err, ErrUnsupported):
		return Delta{}, storeerr.New(storeerr.Failed, "decoding the delta: %w", err)
	case err != nil:
		return Delta{}, storeerr.New(storeerr.Integrity, "decoding the delta: %w", err)
	}
	return delta, nil
}

func decodeDelta(payload []byte) (Delta, error) {
	if len(payload) > 0 && payload[0] != deltaVersion {
		return Delta{}, fmt.Errorf("%w %d", ErrUnsupported, payload[0])
	}
	if len(payload) < deltaHeadBytes {
		return Delta{}, errors.New("it ends within its head")
	}
	length := binary.LittleEndian.Uint32(payload[1:])
	halves := payload[deltaHeadBytes:]
	if uint64(length) > uint64(len(halves)) {
		return Delta{}, fmt.Errorf("its adds have %d bytes by its head, and %d follow", length, len(halves))
	}
	adds, err := decodeHalf(halves[:length])
	if err != nil {
		return Delta{}, fmt.Errorf("its adds: %w", err)
	}
	removes, err := decodeHalf(halves[length:])
	if err != nil {
		return Delta{}, fmt.Errorf("its removes: %w", err)
	}
	if adds.Intersects(removes) {
		return Delta{}, ErrOverlap
	}
	return Delta{Adds: adds, Removes: removes}, nil
}

// The portable Roaring format begins with one of two cookies.
const (
	cookiePlain = 12346 // then a u32 with the number of containers
	cookieRuns  = 12347 // with the number of containers less one in its upper half
)

// decodeHalf decodes one bitmap in the portable Roaring format, which fills
// data. Values up to 65,535 fit one container; that much is looked at first,
// for the library to allocate no more than that.
func decodeHalf(data []byte) (*roaring.Bitmap, error) {
	if len(data) > maxHalfBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(data))
	}
	if len(data) < 8 {
		return nil, errors.New("too short for a bitmap")
	}
	cookie, containers := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if cookie&0xffff == cookieRuns {
		containers = cookie>>16 + 1
	} else if cookie != cookiePlain {
		return nil, errors.New("no bitmap in the portable Roaring format")
	}
	if containers > 1 {
		return nil, errOutOfRange
	}
	bitmap := roaring.New()
	read, err := bitmap.ReadFrom(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if read != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes too many", int64(len(data))-read)
	}
	return bitmap, checkValues(bitmap)
}

var errOutOfRange = errors.New("a value is above 65535")

// checkValues walks a bitmap once. The library's own check takes quadratic
// time for runs.
func checkValues(bitmap *roaring.Bitmap) error {
	var values [1024]uint32
	var total uint64
	next := uint32(0) // the least that may follow
	for it := bitmap.ManyIterator(); ; {
		n := it.NextMany(values[:])
		if n == 0 {
			break
		}
		for _, v := range values[:n] {
			if v >= MaxChunks {
				return errOutOfRange
			}
			if v < next {
				return errors.New("its values are not in order")
			}
			next = v + 1
		}
		total += uint64(n)
	}
	if total != bitmap.GetCardinality() {
		return fmt.Errorf("%d values, and its head says %d", total, bitmap.GetCardinality())
	}
	return nil
}

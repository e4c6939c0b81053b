package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts numbers by bounds. It has one count more than bounds: the
// last one is of what lies above all.
type Histogram struct {
	Bounds []int64 // each the largest number of its count, ascending
	Counts []int64
}

func newHistogram(bounds ...int64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]int64, len(bounds)+1)}
}

func (h *Histogram) add(n int64) {
	h.Counts[sort.Search(len(h.Bounds), func(i int) bool { return n <= h.Bounds[i] })]++
}

// Distribution is how numbers of one kind are spread. P50 and P99 are exact up
// to 2,047, and above it to a thousandth; the rest is exact.
type Distribution struct {
	Histogram
	Count, Sum    int64
	P50, P99, Max int64
}

// The numbers that a spread tells apart, in some 250 KiB: up to 2^40 with
// three digits.
const (
	largestNumber = 1 << 40
	digits        = 3
)

// spread gathers a Distribution.
type spread struct {
	Distribution
	sketch *hdrhistogram.Histogram
}

func newSpread(bounds ...int64) *spread {
	return &spread{Distribution{Histogram: newHistogram(bounds...)}, hdrhistogram.New(1, largestNumber, digits)}
}

func (s *spread) add(n int64) {
	s.Count++
	s.Sum += n
	s.Max = max(s.Max, n)
	s.Histogram.add(n)
	// It fails only for a number that is negative or above the largest.
	_ = s.sketch.RecordValue(min(n, largestNumber))
}

func (s *spread) done() Distribution {
	s.P50 = min(s.Max, s.sketch.ValueAtPercentile(50))
	s.P99 = min(s.Max, s.sketch.ValueAtPercentile(99))
	return s.Distribution
}

// sizeBounds are the bounds of sizes in bytes: fourfold steps up to 64 MiB.
func sizeBounds() []int64 {
	bounds := []int64{0}
	for size := int64(16); size <= 64<<20; size *= 4 {
		bounds = append(bounds, size)
	}
	return bounds
}

// versionBounds are the bounds of versions a row.
func versionBounds() []int64 { return []int64{1, 2, 4, 8, 16, 32, 64, NearBacklog - 1, maxVersions} }

// expiryBounds are the bounds of times to live in ms.
func expiryBounds() []int64 {
	const minute, hour, day = 60_000, 3_600_000, 86_400_000
	return []int64{minute, 10 * minute, hour, 6 * hour, day, 7 * day, 30 * day, 365 * day}
}

// Expiries is when things expire: how many never do, and how many within how
// many ms from when they were looked at.
type Expiries struct {
	Histogram
	Never int64
}

func newExpiries() Expiries { return Expiries{Histogram: newHistogram(expiryBounds()...)} }

func (e *Expiries) add(expiresAt, now int64) {
	if expiresAt == 0 {
		e.Never++
		return
	}
	e.Histogram.add(expiresAt - now)
}

// Sized is something with a name, and how large it is: bytes or versions.
type Sized[Name any] struct {
	Name Name
	Size int64
}

// largest keeps the largest of many, largest first; of those alike the first.
type largest[Name any] struct {
	limit int
	list  []Sized[Name]
}

func (l *largest[Name]) add(name Name, size int64) {
	if len(l.list) == l.limit && size <= l.least() {
		return
	}
	at, _ := slices.BinarySearchFunc(l.list, size, func(s Sized[Name], size int64) int {
		return cmp.Or(cmp.Compare(size, s.Size), -1)
	})
	l.list = slices.Insert(l.list, at, Sized[Name]{name, size})
	l.list = l.list[:min(len(l.list), l.limit)]
}

func (l *largest[Name]) least() int64 {
	if len(l.list) == 0 {
		return math.MaxInt64
	}
	return l.list[len(l.list)-1].Size
}

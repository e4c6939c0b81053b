// What stats shows on a terminal: charts.

package cmd

import (
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
)

func figure(label string, n int64) render.ChartLine {
	return render.ChartLine{Label: label, Value: humanize.Comma(n)}
}

func size(label string, bytes int64) render.ChartLine {
	return render.ChartLine{Label: label, Value: showBytes(bytes)}
}

func showBytes(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

// shares gives lines of counts bars, by the largest of them.
func shares(labels []string, counts ...int64) []render.ChartLine {
	lines := make([]render.ChartLine, len(counts))
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	for i, n := range counts {
		lines[i] = figure(labels[i], n)
		lines[i].Share = float64(n) / float64(most)
	}
	return lines
}

// buckets are the lines of a histogram, without the empty ones at its ends.
func buckets(h stats.Histogram, label func(bound int64) string) []render.ChartLine {
	first, end := len(h.Counts), 0
	for i, n := range h.Counts {
		if n > 0 {
			first, end = min(first, i), i+1
		}
	}
	if first >= end {
		return nil
	}
	labels := make([]string, len(h.Counts))
	for i, bound := range h.Bounds {
		labels[i] = "≤ " + label(bound)
	}
	labels[len(h.Bounds)] = "> " + label(h.Bounds[len(h.Bounds)-1])
	return shares(labels[first:end], h.Counts[first:end]...)
}

// spread are the lines of a distribution.
func spread(d stats.Distribution, show func(int64) string) []render.ChartLine {
	if d.Count == 0 {
		return nil
	}
	lines := []render.ChartLine{
		{Label: "half have at most", Value: show(d.P50)},
		{Label: "99 % have at most", Value: show(d.P99)},
		{Label: "the most", Value: show(d.Max)},
	}
	return append(lines, buckets(d.Histogram, show)...)
}

func expiryLines(e stats.Expiries) []render.ChartLine {
	lines := buckets(e.Histogram, render.Span)
	if e.Never > 0 || len(lines) > 0 {
		lines = append(lines, figure("never", e.Never))
	}
	return lines
}

// named are the lines of the largest.
func named[Name any](list []stats.Sized[Name], label func(Name) string, show func(int64) string) []render.ChartLine {
	lines := make([]render.ChartLine, len(list))
	for i, s := range list {
		lines[i] = render.ChartLine{Label: label(s.Name), Value: show(s.Size)}
	}
	return lines
}

// charts leaves out those that show nothing.
func charts(all ...render.Chart) []render.Chart {
	var some []render.Chart
	for _, c := range all {
		if len(c.Lines) > 0 {
			some = append(some, c)
		}
	}
	return some
}

func (s opaqueStatsRecord) charts() []render.Chart {
	rows := shares([]string{"live", "expired", "tombstoned"}, s.Rows.Live, s.Rows.Expired, s.Rows.Tombstoned)
	if s.Rows.Missing > 0 {
		rows = append(rows, figure("without a row", s.Rows.Missing))
	}
	if s.Rows.Damaged > 0 {
		rows = append(rows, figure("damaged", s.Rows.Damaged))
	}
	rows = append(rows, size("keys of live rows", s.KeyBytes), size("values of live rows", s.Values.Sum))
	versions := spread(s.Versions, humanize.Comma)
	if s.Near > 0 {
		versions = append(versions, figure(fmt.Sprintf("near the backlog of %d", opaque.MaxRowVersions), s.Near))
	}
	return charts(
		render.Chart{Title: "ROWS", Lines: rows},
		render.Chart{Title: "VALUES, BY SIZE", Lines: spread(s.Values, showBytes)},
		render.Chart{Title: "LARGEST VALUES", Lines: named(s.Largest, keyformat.Escape, showBytes)},
		render.Chart{Title: "ROWS, BY VERSIONS", Lines: versions},
		render.Chart{Title: "FULLEST ROWS, BY VERSIONS", Lines: named(s.Fullest, keyformat.Escape, humanize.Comma)},
		render.Chart{Title: "ROWS, BY WHEN THEY EXPIRE", Lines: expiryLines(s.Expiries)},
		render.Chart{Title: "WRITES", Lines: s.writeLines()},
		render.Chart{Title: "COLLECTION", Lines: s.cleanupLines()},
		render.Chart{Title: "SNAPSHOTS", Lines: s.snapshotLines()},
	)
}

func (s opaqueStatsRecord) writeLines() []render.ChartLine {
	lines := []render.ChartLine{{Label: "batches so far", Value: s.Counter}}
	if rate, known := s.Writes.PerSecond(); known {
		lines = append(lines, render.ChartLine{Label: "batches a second", Value: strconv.FormatFloat(rate, 'f', 1, 64)})
	}
	return lines
}

// firstMoment is a score, in ms, below which it is no moment at which a row fell
// due: there were no such stores in the year 2000.
const firstMoment = 946_684_800_000

func (s opaqueStatsRecord) cleanupLines() []render.ChartLine {
	lines := []render.ChartLine{figure("keys in the queue", s.Cleanup), figure("due", s.Due)}
	switch {
	case s.Due == 0:
	case s.OldestDue < firstMoment:
		lines = append(lines, figure("the lowest score, no moment of ours", s.OldestDue))
	default:
		lines = append(lines, render.ChartLine{Label: "the oldest due for", Value: render.Span(s.Now - s.OldestDue)})
	}
	return lines
}

func (s opaqueStatsRecord) snapshotLines() []render.ChartLine {
	lines := []render.ChartLine{figure("open", s.Snapshots.Open)}
	if s.Snapshots.Ended > 0 {
		lines = append(lines, figure("ended", s.Snapshots.Ended))
	}
	if oldest := s.Snapshots.Oldest; oldest != nil {
		if oldest.Now > 0 {
			lines = append(lines, render.ChartLine{Label: "the oldest open for", Value: render.Span(s.Now - oldest.Now)})
		}
		lines = append(lines, figure("batches since", oldest.Behind))
	}
	return lines
}

func (s blobStatsRecord) charts() []render.Chart {
	blobs := []render.ChartLine{figure("blobs", s.Sizes.Count), size("bytes", s.Sizes.Sum)}
	if s.Damaged > 0 {
		blobs = append(blobs, figure("damaged", s.Damaged))
	}
	return charts(
		render.Chart{Title: "BLOBS", Lines: blobs},
		render.Chart{Title: "BLOBS, BY SIZE", Lines: spread(s.Sizes, showBytes)},
		render.Chart{Title: "LARGEST BLOBS", Lines: named(s.Largest, keyformat.Escape, showBytes)},
		render.Chart{Title: "BLOBS, BY WHEN THEY EXPIRE", Lines: expiryLines(s.Expiries)},
	)
}

func (s warmStatsRecord) charts() []render.Chart {
	chunks := []render.ChartLine{
		figure("segments", s.Segments), figure("chunks", s.Payloads.Count), size("payloads", s.Payloads.Sum),
		figure("ids added", int64(s.Added)), figure("ids removed", int64(s.Removed)),
	}
	if s.Other > 0 {
		chunks = append(chunks, figure("chunks of other bytes", s.Other))
	}
	if s.Damaged > 0 {
		chunks = append(chunks, figure("damaged", s.Damaged))
	}
	name := func(c stats.ChunkName) string { return fmt.Sprintf("%s %d", c.Segment, c.Number) }
	return charts(
		render.Chart{Title: "CHUNKS", Lines: chunks},
		render.Chart{Title: "CHUNKS, BY SIZE", Lines: spread(s.Payloads, showBytes)},
		render.Chart{Title: "LARGEST CHUNKS", Lines: named(s.Largest, name, showBytes)},
	)
}

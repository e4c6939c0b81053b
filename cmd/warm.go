package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func newWarmCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{
		Use:   "warm",
		Short: "Read and write the warm store: chunks under optimistic concurrency",
		Long: `Read and write the warm store: segments of up to 65,536 chunks, each with a
token that changes with every write. A write names the token it expects, and
where another is there nothing changes and the exit status is 4.

The prefix may be empty here, and is when none is named.`,
	}, newWarmListCmd(f), newWarmReadCmd(f), newWarmCASCmd(f), newWarmDeleteCmd(f), newWarmSegmentsCmd(f))
}

// chunkAddress names a chunk, or its segment alone.
type chunkAddress struct {
	segment warm.Segment
	chunk   uint16
}

func (a *chunkAddress) register(c *cobra.Command) {
	c.Flags().StringVar(&a.segment.Namespace, "namespace", "", "the `NAME` of the segment's namespace; none by default")
}

// parse reads the arguments SEGMENT and, where there is a second one, CHUNK.
func (a *chunkAddress) parse(args []string) (err error) {
	a.segment.Name = args[0]
	if err := a.segment.Check(); err != nil {
		return err
	}
	if len(args) > 1 {
		a.chunk, err = warm.ParseChunk(args[1])
	}
	return err
}

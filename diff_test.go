// A diff that ends early leaves no snapshot on either side.

package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func TestSignalEndsDiff(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		left := fill(t, s, 5000)
		right, err := opaque.New(s.Client(t), "other")
		noError(t, err)
		_, err = right.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Put("key/004999", "v", opaque.Never())}})
		noError(t, err)
		// Nobody reads on, so that the diff is stuck in the pipe.
		p := start(t, s.URL, "diff", "--right-prefix", "other")
		if line := p.line(); !strings.HasPrefix(line, "opaque\tkey/000000\t") {
			t.Errorf("first line %q", line)
		}
		p.signal(os.Interrupt)
		p.ends(130)
		p.says("error: interrupted\n")
		noSnapshots(t, left)
		noSnapshots(t, right)
	})
}

// The two sides of copy and diff. Each is where its own flags and its context
// lead, or else the global ones, and has a factory of its own.

package cmd

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

// end is one of two sides.
type end struct {
	*Factory
	name string // the word that its flags begin with
}

// registerSides adds the flags of two sides.
func (f *Factory) registerSides(c *cobra.Command, names ...string) {
	for _, name := range names {
		config.RegisterSide(c.Flags(), name)
		// It fails only for a flag that does not exist or has one already.
		_ = c.RegisterFlagCompletionFunc(name+"-context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return contextCandidates(f.ctx, f, nil, ""), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// end loads the settings of a side. Nothing is opened.
func (f *Factory) end(c *cobra.Command, name string) (*end, error) {
	if _, err := f.Settings(); err != nil {
		return nil, err
	}
	settings, err := config.LoadSide(c.Flags(), f.Getenv, name)
	if err != nil {
		return nil, err
	}
	own := *f
	own.settings, own.client, own.closers = settings, nil, nil
	f.closers = append(f.closers, own.close)
	return &end{&own, name}, nil
}

// ends loads the settings of both sides. A global flag that neither of them
// heeds is refused.
func (f *Factory) ends(c *cobra.Command, one, other string) (a, b *end, err error) {
	if a, err = f.end(c, one); err != nil {
		return nil, nil, err
	}
	if b, err = f.end(c, other); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"context", "url", "addr", "prefix"} {
		flag := "--" + name
		if f.flags.Changed(name) && a.settings.Source(name) != flag && b.settings.Source(name) != flag {
			return nil, nil, storeerr.New(storeerr.Invalid, "%s is for neither side: both say otherwise", flag)
		}
	}
	return a, b, nil
}

// sameTarget tells whether two sides name the same server alike.
func (e *end) sameTarget(other *end) bool {
	return reflect.DeepEqual(e.settings.Target, other.settings.Target)
}

// check refuses two sides that are the same as far as their settings tell,
// before anything is opened.
func (e *end) check(other *end) error {
	if e.settings.Prefix != other.settings.Prefix || !e.sameTarget(other) {
		return nil
	}
	return storeerr.New(storeerr.Invalid, "both sides are the same: the prefix %q of one server", e.settings.Prefix).
		WithHint("name one with --%s-context, --%[1]s-url or --%[1]s-prefix", e.name)
}

// open returns the stores of both sides, which must have the same ones. Two
// prefixes of a server share a connection; a prefix of one server that is
// reached by two addresses is refused.
func (e *end) open(ctx context.Context, a access, other *end, b access, stores []string) (one, two transfer.Side, err error) {
	if one, err = e.side(a, stores); err != nil {
		return one, two, e.blame(err)
	}
	if e.sameTarget(other) {
		other.client = e.client
	}
	if two, err = other.side(b, stores); err != nil {
		return one, two, other.blame(err)
	}
	if !reflect.DeepEqual(one.Stores(), two.Stores()) {
		return one, two, storeerr.New(storeerr.Invalid, "the prefixes %q and %q cannot have the same stores", one.Prefix, two.Prefix).
			WithHint("name with --store what both can have")
	}
	if one.Prefix != two.Prefix || e.sameTarget(other) || e.database() != other.database() {
		return one, two, nil
	}
	same, err := servers.Same(ctx, e.client, other.client)
	if err != nil {
		return one, two, err
	}
	if same {
		err = storeerr.New(storeerr.Invalid, "both sides are the same: the prefix %q of one server, by two addresses", one.Prefix)
	}
	return one, two, err
}

// blame says which side an error is of.
func (e *end) blame(err error) error { return fmt.Errorf("the %s side: %w", e.name, err) }

func (e *end) database() int {
	if e.settings.Target.DB == nil {
		return 0
	}
	return *e.settings.Target.DB
}

package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// NewRootCmd builds the whole command tree on a factory.
func NewRootCmd(f *Factory) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "keyspacectl",
		Short: "See into, script and move the stores that applications keep in Redis",
		Long: `keyspacectl sees into, scripts and moves the stores that applications keep in
Redis: the versioned store, the blob store and the warm store.

Try it without a Redis: keyspacectl tour`,
		SilenceUsage:  true,
		SilenceErrors: true,
	})
	root.SetIn(f.In)
	root.SetOut(f.Out)
	root.SetErr(f.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCmd(f))
	root.SetFlagErrorFunc(flagError)
	config.RegisterFlags(root.PersistentFlags())
	f.flags = root.PersistentFlags()

	addGroup(root, "opaque", "Versioned store",
		newPutCmd(f), newReadCmd(f), newDeleteCmd(f), newScanCmd(f), newTxnCmd(f), newHistoryCmd(f), newSnapshotCmd(f))
	addGroup(root, "stores", "Blob and warm store",
		newBlobCmd(f), newWarmCmd(f))
	addGroup(root, "keyspace", "All stores",
		newPrefixesCmd(f), newInspectCmd(f), newStatsCmd(f), newVerifyCmd(f))
	addGroup(root, "move", "Moving data",
		newExportCmd(f), newImportCmd(f), newCopyCmd(f), newDiffCmd(f), newMigrateCmd(f))
	addGroup(root, "tool", "The tool",
		newConfigCmd(f), newDoctorCmd(f), newScriptsCmd(f), newSandboxCmd(f), newTourCmd(f), newVersionCmd(f), newCompletionCmd(f))
	root.SetHelpCommandGroupID("tool")
	addCompletions(root, f)
	markStarted(root, f)
	return root
}

// markStarted lets every command tell that it runs. What fails before that is
// Cobra refusing flags, groups of flags or arguments: an error of usage.
func markStarted(c *cobra.Command, f *Factory) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			f.started = true
			return run(c, args)
		}
	}
	for _, child := range c.Commands() {
		markStarted(child, f)
	}
}

func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title + ":"})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// group makes a command that only holds others. Cobra answers a misspelt
// subcommand of one with help and status 0; here it is an error.
func group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.AddCommand(commands...)
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(c, args[0])
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := c.Help(); err != nil {
			return fmt.Errorf("printing help: %w", err)
		}
		return nil
	}
	return c
}

func unknownCommand(group *cobra.Command, name string) error {
	var names []string
	for _, c := range group.Commands() {
		names = append(append(names, c.Name()), c.Aliases...)
	}
	return unknown(group, names, name, "unknown command %q for %q", name, group.CommandPath())
}

// flagError is the error of flags that do not parse.
func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 {
		// The flag would have been for a command that there is not.
		return unknownCommand(c, args[0])
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	switch {
	case !ok:
		return storeerr.New(storeerr.Invalid, "%w", err).WithHint("see `%s --help`", c.CommandPath())
	case missing.GetSpecifiedShortnames() != "":
		return storeerr.New(storeerr.Invalid, "%w", err).
			WithHint("see `%s --help`; what begins with - and is no flag goes behind --", c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	return unknown(c, names, "--"+missing.GetSpecifiedName(), "%w", err)
}

// unknown is an error of usage that names what was meant, if that is near.
func unknown(c *cobra.Command, names []string, name, format string, args ...any) error {
	err := storeerr.New(storeerr.Invalid, format, args...)
	// Cobra measures how far apart words are, but for names of commands alone.
	dictionary := &cobra.Command{SuggestionsMinimumDistance: 2}
	if len(strings.TrimLeft(name, "-")) <= 3 {
		dictionary.SuggestionsMinimumDistance = 1 // two letters of three make another word
	}
	for _, name := range names {
		dictionary.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if similar := dictionary.SuggestionsFor(name); len(similar) > 0 {
		return err.WithHint("did you mean %s?", strings.Join(similar, " or "))
	}
	return err.WithHint("see `%s --help`", c.CommandPath())
}

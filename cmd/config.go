package cmd

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newConfigCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "See and change the config file and its contexts",
		Long: `See and change the config file and its contexts. A context holds, under a name,
what would else be flags: a server and how to sign in to it, a prefix, formats.
Passwords do not stand in the file; it names a file or a command to get them by.`,
	}, newConfigListCmd(f), newConfigUseCmd(f), newConfigShowCmd(f), newConfigSetCmd(f), newConfigUnsetCmd(f), newConfigPathCmd(f))
}

// contexts reads the config file for a command that is about the file. The
// command does without the settings in it, which may be what is to be mended.
func (f *Factory) contexts() (*config.Contexts, error) {
	if err := f.withoutFile(); err != nil {
		return nil, err
	}
	return config.LoadContexts(f.flags, f.Getenv)
}

func (f *Factory) withoutFile() (err error) {
	f.settings, err = config.LoadWithoutFile(f.flags, f.Getenv)
	return err
}

// offline returns the settings for a command that needs no server: it works
// with a config file that is broken too, and then without it.
func (f *Factory) offline() (*config.Settings, error) {
	if settings, err := f.Settings(); err == nil {
		return settings, nil
	}
	err := f.withoutFile()
	return f.settings, err
}

// offlinePrinter is printer for such a command.
func (f *Factory) offlinePrinter(fields render.Fields) (*render.Printer, error) {
	if _, err := f.offline(); err != nil {
		return nil, err
	}
	return f.printer(fields)
}

// changed is what a command has done to the config file.
type changed struct{ context, setting, file, outcome string }

func changedFields() render.Fields {
	return render.Fields{Shown: []string{"context", "setting", "file", "outcome"}}
}

// Record says what was written and where.
func (c changed) Record(r *render.Record) {
	r.Text("context", c.context)
	r.Text("setting", c.setting)
	r.Text("file", c.file)
	r.Text("outcome", cmp.Or(c.outcome, "written"))
}

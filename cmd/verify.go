package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

type verifyOptions struct {
	verify.RunOptions
	stores, destroy []string
	failOn          string
	listCodes, yes  bool
}

func newVerifyCmd(f *Factory) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the stores of a prefix for damage, and mend it",
		Long: `Check every invariant of the stores of a prefix, and list what is damaged. Rows
that stop all applications come first. It runs beside live traffic: what may be
a race is looked at again, in one step, before it is reported.

With --repair what can be mended without guessing is mended, each finding by
one script that looks again first. Members of rows that do not decode are moved
to a quarantine beside the store, and nothing else of the row. What takes data
away from applications is mended only where its code is named by --destroy.
--dry-run prints the same plan and writes nothing.

The status is 7 when findings are left that are as bad as --fail-on says, and 3
when the prefix has no store.
--list-codes prints what each code means, and how it is mended.`,
		Example: `  keyspacectl verify
  keyspacectl verify --store opaque --fail-on warning -o json
  keyspacectl verify --repair --dry-run
  keyspacectl verify --repair --yes
  keyspacectl verify --repair --destroy opaque-member-key --dry-run
  keyspacectl verify --list-codes --columns code,severity,mending`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.listCodes {
				return runVerifyCodes(f)
			}
			failOn, err := o.check(f)
			if err != nil {
				return err
			}
			return o.run(c.Context(), f, failOn)
		},
	}
	c.Flags().StringSliceVar(&o.stores, "store", nil, "a `STORE` to check: opaque, blob or warm (repeatable; all by default)")
	c.Flags().StringVar(&o.failOn, "fail-on", string(verify.Error), "end with status 7 when a finding of this `SEVERITY` or worse is left: critical, error or warning")
	c.Flags().BoolVar(&o.Repair, "repair", false, "mend what can be mended without guessing")
	c.Flags().StringSliceVar(&o.destroy, "destroy", nil, "mend the findings of this `CODE` as well, although that takes data away (repeatable)")
	c.Flags().BoolVar(&o.NoPayload, "no-payload", false, "leave out what reads the payloads of blobs and chunks")
	c.Flags().BoolVar(&o.listCodes, "list-codes", false, "print what each code means, and check nothing")
	addDryRun(c, &o.DryRun)
	addYes(c, &o.yes)
	completeWords(c, "store", verify.Stores())
	completeWords(c, "fail-on", verify.Severities())
	completeWords(c, "destroy", verify.Destroying())
	return c
}

// check reads the flags, before anything is opened.
func (o *verifyOptions) check(f *Factory) (failOn verify.Severity, err error) {
	for _, name := range o.stores {
		store, err := verify.ParseStore(name)
		if err != nil {
			return "", err
		}
		o.Stores = append(o.Stores, store)
	}
	for _, name := range o.destroy {
		code, err := verify.ParseCode(name)
		if err != nil {
			return "", err
		}
		o.Destroy = append(o.Destroy, code)
	}
	if failOn, err = verify.ParseSeverity(o.failOn); err != nil {
		return "", err
	}
	if o.DryRun && !o.Mends() {
		return "", storeerr.New(storeerr.Invalid, "--dry-run is for --repair: verify alone writes nothing")
	}
	s, err := f.Settings()
	if err != nil {
		return "", err
	}
	if o.Prefix = s.Prefix; len(o.Stores) != 1 || o.Stores[0] != verify.StoreWarm {
		// The prefix of the warm store alone may be empty.
		if o.Prefix, err = f.prefix(); err != nil {
			return "", err
		}
	}
	return failOn, o.Check()
}

func (o *verifyOptions) run(ctx context.Context, f *Factory, failOn verify.Severity) error {
	out, err := f.printer(findingFields(o.Mends()))
	if err != nil {
		return err
	}
	a := reads
	if o.Mends() {
		a = writes
	}
	client, err := f.connect(a)
	if err != nil {
		return err
	}
	if o.Mends() && !o.DryRun {
		if err := f.confirm(o.yes, "mend what is damaged under the prefix %q", o.Prefix); err != nil {
			return err
		}
	}
	progress := f.progress("checked")
	defer progress.Stop()
	s := verifySummary{shown: time.Now()}
	o.Progress = func(checked int64) { s.checked = checked; progress.Set(checked) }
	for r, err := range verify.Run(ctx, client, o.RunOptions) {
		if err == nil {
			s.add(r, failOn)
			err = s.print(out, findingRecord(r))
		}
		if err != nil {
			return partial(stopped(out, err), s.mended > 0, "mended %d findings; the same command goes on", s.mended)
		}
	}
	progress.Stop()
	if err := out.End(); err != nil {
		return err
	}
	if s.checked == 0 && s.found == 0 {
		return storeerr.New(storeerr.NotFound, "there is no store of prefix %q", o.Prefix).WithHint("`keyspacectl prefixes` lists those that the server holds")
	}
	f.note("%s", s)
	return s.err()
}

// completeWords gives a flag the values that it can have.
func completeWords[T ~string](c *cobra.Command, flag string, values []T) {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	// It fails only for a flag that does not exist.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

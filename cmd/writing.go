// How records are written into stores, as import and copy do it: the flags,
// what is told meanwhile, and the result.

package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/progress"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

// writing are the flags that say how records are written.
type writing struct {
	policy    string
	maps      []string
	segments  []string
	retention duration.Value
	tokens    bool
	verify    bool
	dryRun    bool
}

func (w *writing) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&w.policy, "on-conflict", string(transfer.Fail), "what to do where the destination holds something else: the `POLICY` fail, skip or overwrite")
	flags.StringArrayVar(&w.maps, "map", nil, "give keys and references that begin with OLD the beginning NEW: `OLD=NEW`; may be given several times, the longest OLD counts")
	flags.StringArrayVar(&w.segments, "map-segment", nil, "write the segment OLD as NEW: `OLD=NEW`; may be given several times")
	flags.Var(&w.retention, "retention", "let rows and blobs expire after this `DURATION`, whatever their own expiry; equal ones that are there keep theirs unless --on-conflict is overwrite")
	flags.BoolVar(&w.tokens, "keep-tokens", false, "give chunks that are created the tokens that they have")
	flags.BoolVar(&w.verify, "verify", false, "read back what was written")
	addDryRun(c, &w.dryRun)
	// It fails only for a flag that does not exist or has one already.
	_ = c.RegisterFlagCompletionFunc("on-conflict", cobra.FixedCompletions(policies(), cobra.ShellCompDirectiveNoFileComp))
}

func policies() []string {
	var names []string
	for _, p := range transfer.Policies() {
		names = append(names, string(p))
	}
	return names
}

// apply checks the flags and puts them into options.
func (w *writing) apply(f *Factory, o *transfer.ImportOptions) (err error) {
	if !slices.Contains(policies(), w.policy) {
		return storeerr.New(storeerr.Invalid, "--on-conflict is %s, not %q", strings.Join(policies(), ", "), w.policy)
	}
	s, err := f.Settings()
	if err != nil {
		return err
	}
	if o.Map, err = mappings("--map", s.KeyFormat, w.maps); err != nil {
		return err
	}
	if o.Segments, err = mappings("--map-segment", keyformat.Literal, w.segments); err != nil {
		return err
	}
	o.OnConflict, o.Retention, o.KeepTokens = transfer.Policy(w.policy), time.Duration(w.retention), w.tokens
	o.Verify, o.DryRun = w.verify, w.dryRun
	return nil
}

// mappings reads OLD=NEW, each a key in a format. The first = at which both
// are such keys parts them.
func mappings(flag, format string, texts []string) ([]transfer.Mapping, error) {
	var maps []transfer.Mapping
	for _, text := range texts {
		m, err := mapping(format, text)
		if err != nil {
			return nil, storeerr.New(storeerr.Invalid, "%s %q: %w", flag, text, err)
		}
		if slices.ContainsFunc(maps, func(other transfer.Mapping) bool { return other.Old == m.Old }) {
			return nil, storeerr.New(storeerr.Invalid, "%s names %q twice", flag, m.Old)
		}
		maps = append(maps, m)
	}
	return maps, nil
}

func mapping(format, text string) (transfer.Mapping, error) {
	err := errors.New("it is not OLD=NEW")
	for at := range len(text) {
		if text[at] != '=' {
			continue
		}
		var m transfer.Mapping
		if m.Old, err = keyformat.Parse(format, text[:at]); err == nil {
			if m.New, err = keyformat.Parse(format, text[at+1:]); err == nil {
				return m, nil
			}
		}
	}
	return transfer.Mapping{}, err
}

// report is what is told of records that are being written.
type report struct {
	*progress.Counter
	f      *Factory
	place  string // what the place in the records is called
	policy transfer.Policy
	dryRun bool
}

// follow makes the options tell what happens.
func (w *writing) follow(f *Factory, o *transfer.ImportOptions) report {
	r := report{Counter: f.progress("records"), f: f, place: "line", policy: o.OnConflict, dryRun: w.dryRun}
	o.Told = func(err error) { f.warn("%v", err) }
	o.Progress = func(s transfer.Summary) { r.Set(s.Done()) }
	return r
}

// end prints what was done, or says how far it came and how to go on.
func (r report) end(out *render.Printer, sum transfer.Summary, err error) error {
	if sum.NotUTF8 > 0 {
		r.f.note("%s no valid UTF-8: other drivers cannot address them", counts(sum.NotUTF8, "key is", "keys are"))
	}
	if err != nil {
		return r.failed(sum, err)
	}
	out.SetNow(sum.Now)
	if err := out.One(importedRecord{sum, r.dryRun}); err != nil {
		return err
	}
	switch {
	case sum.Conflicts > 0:
		return sum.ConflictOf(r.policy)
	case sum.Differ > 0:
		return storeerr.New(storeerr.Integrity, "%s not found as written", counts(sum.Differ, "record was", "records were"))
	case sum.LeftOut > 0 && r.place == "line":
		return storeerr.New(storeerr.Partial, "%s left out", counts(sum.LeftOut, "record or line was", "records or lines were"))
	case sum.LeftOut > 0:
		return storeerr.New(storeerr.Partial, "%s left out", counts(sum.LeftOut, "record was", "records were"))
	}
	return nil
}

// failed says how far what failed has come, and how to go on.
func (r report) failed(sum transfer.Summary, err error) error {
	begun := sum.Written() > 0 && !r.dryRun
	bad, badLine := errors.AsType[*archive.BadLine](err)
	// Until something is written, what only other flags would mend is theirs.
	badLine = badLine && (begun || storeerr.KindOf(err) != storeerr.Invalid)
	mend := cmp.Or(storeerr.HintOf(err), "mend the line and run the same command again, or add --keep-going to leave it out")
	switch {
	case errors.Is(err, storeerr.Partial):
		return err
	case badLine && (r.dryRun || errors.As(err, new(*transfer.UntouchedError))):
		return storeerr.New(storeerr.Partial, "%w", err).WithHint("%s", mend)
	case badLine:
		return storeerr.New(storeerr.Partial, "stopped before line %d (%s): %w", bad.Line, counted(sum), err).WithHint("%s", mend)
	case errors.As(err, new(*transfer.TakenOverError)):
		return storeerr.New(storeerr.Partial, "all is written (%s), but %w", counted(sum), err).
			WithHint("run the same command again: it writes what is missing")
	case errors.Is(err, storeerr.UnknownOutcome) && sum.Written() == 0:
		return storeerr.New(storeerr.UnknownOutcome, "%w", err).WithHint("run the same command again: it finds out, and goes on")
	}
	return partial(err, begun, "stopped behind %s %d (%s)%s", r.place, sum.Line, counted(sum), goesOn(err))
}

// goesOn says that the same command goes on, unless it would only stop again.
func goesOn(err error) string {
	if errors.Is(err, storeerr.Conflict) || errors.Is(err, archive.ErrDamaged) || errors.As(err, new(*transfer.BadRecord)) {
		return ""
	}
	return "; the same command goes on"
}

func counts(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// counted is a summary in words.
func counted(s transfer.Summary) string {
	return fmt.Sprintf("%d created, %d replaced, %d deleted, %d unchanged, %d skipped, %d expired, %d left out",
		s.Created, s.Replaced, s.Deleted, s.Unchanged, s.Skipped, s.Expired, s.LeftOut)
}

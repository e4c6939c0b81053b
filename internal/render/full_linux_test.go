package render_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func TestFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	for _, format := range render.Formats() {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := render.New(full, render.Options{Format: format}, itemFields)
		if err != nil {
			t.Fatal(err)
		}
		if format == render.Raw {
			err = p.One(items()[0])
		} else {
			if err := p.Row(items()[0]); err != nil {
				t.Errorf("%s: the first row is written at once: %v", format, err)
			}
			err = p.End()
		}
		if !errors.Is(err, syscall.ENOSPC) || render.IsBrokenPipe(err) {
			t.Errorf("%s: %v", format, err)
		}
		if again := p.One(items()[0]); again != err { //nolint:errorlint // the very same error
			t.Errorf("%s: after a failure: %v", format, again)
		}
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	}
}

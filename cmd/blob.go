package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

func newBlobCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{
		Use:   "blob",
		Short: "Read and write the blob store: immutable payloads that expire",
		Long: `Read and write the blob store: immutable payloads that expire.

A blob is at most 64 MiB + 23 bytes under a reference of 1 to 4,096 bytes of
UTF-8. It is put once and never changes; only its expiry can be moved.

--timeout bounds each wait for progress here, not the whole transfer.`,
	}, newBlobPutCmd(f), newBlobReadCmd(f), newBlobRenewCmd(f), newBlobDeleteCmd(f), newBlobListCmd(f), newBlobStatCmd(f))
}

// reference reads the reference of a blob given as an argument, in the format
// of --key-format.
func (f *Factory) reference(text string) (string, error) {
	reference, err := f.key(text)
	if err != nil {
		return "", err
	}
	return reference, blob.CheckReference(reference)
}

// Command keyspacectl sees into, scripts and moves the stores that
// applications keep in Redis.
package main

import (
	"os"

	"github.com/keyspacectl/keyspacectl/cmd"
)

func main() {
	os.Exit(cmd.Main())
}

// Ending a server with its test process on Linux, also when that panics or is
// killed and runs no cleanup.

package testserver

import "syscall"

// endWithParent returns the attributes of a process that the system kills when
// this one ends.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

//go:build !linux

// Ending a server with its test process: other systems than Linux do not do
// that, and only cleanups end the server.
package testserver

import "syscall"

// endWithParent returns the attributes of a process like any other.
func endWithParent() *syscall.SysProcAttr { return nil }

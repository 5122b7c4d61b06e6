//go:build !unix

package sim

import "net"

// tryWriter returns nil: there is no write here that is sure not to wait, so
// every write is made by the reply's own goroutine.
func tryWriter(net.Conn) func(b []byte) (int, error) { return nil }

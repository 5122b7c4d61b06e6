package accuracy

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain makes this test binary the scheduled server, where a test starts it
// as that.
func TestMain(m *testing.M) {
	if len(os.Args) > 4 && os.Args[1] == "accuracy" && os.Args[2] == "--serve" {
		if err := Serve(context.Background(), Transport(os.Args[3]), os.Args[5], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

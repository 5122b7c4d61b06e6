//go:build !linux

package accuracy

import (
	"errors"
	"syscall"
	"time"
)

func openLink(time.Duration) (link, error) {
	return link{}, errors.New("this system has no networks of a process's own")
}

func apartAttr() *syscall.SysProcAttr { return nil }

func within(network, core int, start func() error) error {
	if network != 0 || core >= 0 {
		return errors.New("this system has no networks of a process's own")
	}
	return start()
}

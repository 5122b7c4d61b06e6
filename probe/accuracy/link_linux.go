package accuracy

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openLink makes a link with the given delay each way, in the network of this
// process, which must be its own: of the kernel's netem where there is one,
// else of a device whose packets this process keeps for so long.
func openLink(delay time.Duration) (link, error) {
	if err := raise("lo"); err != nil {
		return link{}, fmt.Errorf("raise lo: %w", err)
	}
	micros := fmt.Sprintf("%dus", delay.Microseconds())
	out, netem := exec.Command("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", micros).CombinedOutput()
	if netem == nil {
		return link{name: "netem", listen: "127.0.0.1", dial: "127.0.0.1"}, nil
	}
	l, err := openTun(delay)
	if err != nil {
		return link{}, fmt.Errorf("no netem (%s), and %w", strings.TrimSpace(string(out)), err)
	}
	return l, nil
}

// The two ends of the device: a packet for the far one comes back as one from
// it, so both are this machine. Swapping the addresses leaves checksums right.
const nearEnd, farEnd = "10.77.0.1", "10.77.0.2"

// openTun makes a device whose packets come back with their addresses swapped
// and the delay later.
func openTun(delay time.Duration) (link, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return link{}, fmt.Errorf("open the tunnel device: %w", err)
	}
	const name = "teapot0"
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return link{}, err
	}
	ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr); err != nil {
		unix.Close(fd)
		return link{}, fmt.Errorf("make a tunnel: %w", err)
	}
	if err := address(name, [4]byte{10, 77, 0, 1}, [4]byte{255, 255, 255, 0}); err != nil {
		unix.Close(fd)
		return link{}, fmt.Errorf("set the tunnel's address: %w", err)
	}
	if err := raise(name); err != nil {
		unix.Close(fd)
		return link{}, fmt.Errorf("raise the tunnel: %w", err)
	}
	go carry(fd, delay)
	return link{name: "a tunnel of the server's own, for want of netem", listen: nearEnd, dial: farEnd}, nil
}

// packet is one on its way.
type packet struct {
	due  int64
	data []byte
}

// carry takes packets out of the tunnel and gives them back, in order, when
// their time has come.
func carry(fd int, delay time.Duration) {
	way := make(chan packet, 4096) // a full link drops, as links do
	go func() {
		runtime.LockOSThread()
		privilege()
		for p := range way {
			for wait := p.due - monotonic(); wait > 0; wait = p.due - monotonic() {
				if wait > 2*spin {
					sleep(wait - spin)
				}
			}
			_, _ = unix.Write(fd, p.data)
		}
	}()
	runtime.LockOSThread()
	privilege()
	defer close(way)
	for {
		buf := make([]byte, 2048)
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return
		}
		if !reflect4(buf[:n]) {
			continue
		}
		select {
		case way <- packet{monotonic() + int64(delay), buf[:n]}:
		default:
		}
	}
}

// reflect4 swaps the addresses of an IPv4 packet; false if it is none.
func reflect4(p []byte) bool {
	if len(p) < 20 || p[0]>>4 != 4 {
		return false
	}
	var from [4]byte
	copy(from[:], p[12:16])
	copy(p[12:16], p[16:20])
	copy(p[16:20], from[:])
	return true
}

// address gives an interface an address and its mask.
func address(name string, at, mask [4]byte) error {
	return withSocket(func(fd int) error {
		for _, set := range []struct {
			req  uint
			addr [4]byte
		}{{unix.SIOCSIFADDR, at}, {unix.SIOCSIFNETMASK, mask}} {
			ifr, err := unix.NewIfreq(name)
			if err != nil {
				return err
			}
			if err := ifr.SetInet4Addr(set.addr[:]); err != nil {
				return err
			}
			if err := unix.IoctlIfreq(fd, set.req, ifr); err != nil {
				return err
			}
		}
		return nil
	})
}

// raise sets an interface up.
func raise(name string) error {
	return withSocket(func(fd int) error {
		ifr, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
			return err
		}
		ifr.SetUint16(ifr.Uint16() | unix.IFF_UP | unix.IFF_RUNNING)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
	})
}

func withSocket(do func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// apartAttr is what starts a process in a network of its own.
func apartAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET} }

// within runs start on a thread of its own that sees the network of the given
// process and may run on the given core alone, so that what it starts does too.
// 0 and -1 leave the network and the cores as they are.
func within(network, core int, start func() error) error {
	if network == 0 && core < 0 {
		return start()
	}
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		ended <- func() error {
			if network != 0 {
				ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", network))
				if err != nil {
					return err
				}
				defer ns.Close()
				if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
					return fmt.Errorf("enter the server's network: %w", err)
				}
			}
			if core >= 0 {
				var set unix.CPUSet
				set.Set(core)
				if err := unix.SchedSetaffinity(0, &set); err != nil {
					return fmt.Errorf("keep to core %d: %w", core, err)
				}
			}
			return start()
		}()
	}()
	return <-ended
}

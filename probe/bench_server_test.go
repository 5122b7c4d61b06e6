package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tokensPerReply is how many tokens the benchmarks' server sends for each
// request.
const tokensPerReply = 2000

// writerMain is the server of the benchmarks in a process of its own, so that
// what it costs is not counted: it streams prepared chunks, one write each,
// step apart by the clock, 0 for as fast as it goes. It ends with its standard
// input.
func writerMain(args []string) int {
	step, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return 2
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println("http://" + ln.Addr().String())
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					io.Copy(io.Discard, r.Body)
					if r.Method != http.MethodPost {
						plain(c, 404, "text/plain", "")
						continue
					}
					if !writeReply(c, time.Duration(step)) {
						return
					}
				}
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// writeReply streams one reply by a schedule that its own delays do not shift.
func writeReply(c net.Conn, step time.Duration) bool {
	var tail strings.Builder
	say(&tail, length, usage(tokensPerReply), done)
	io.WriteString(c, streamHead)
	start := time.Now()
	for i := range tokensPerReply {
		if step > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(i) * step)))
		}
		if _, err := c.Write(benchChunks[i%len(benchChunks)]); err != nil {
			return false
		}
	}
	_, err := io.WriteString(c, tail.String()+lastOne)
	return err == nil
}

// benchChunks are the chunks of some tokens.
var benchChunks = func() (chunks [][]byte) {
	for i := range 10 {
		var s strings.Builder
		say(&s, fmt.Sprintf(`data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1700000000,"model":"tiny","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}`+"\n\n", i))
		chunks = append(chunks, []byte(s.String()))
	}
	return chunks
}()

// startWriter starts that server for as long as the benchmark lasts.
func startWriter(b *testing.B, step time.Duration) (url string) {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe, "writer", strconv.FormatInt(int64(step), 10))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

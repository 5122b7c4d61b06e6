// Command teapot is a live monitor for the endpoints of language models: it
// asks for tokens, times each of them, and shows the distribution with its tail.
package main

import (
	"os"

	"teapot/ui/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }

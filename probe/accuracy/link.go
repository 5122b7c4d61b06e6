package accuracy

import "time"

// linkDelay is how long a packet is on its way over the long link, each way.
const linkDelay = 20 * time.Millisecond

// link is a way between two addresses of this machine that takes its time.
type link struct {
	name   string // how it is made
	listen string // the server's address
	dial   string // the address at which a client reaches it
}

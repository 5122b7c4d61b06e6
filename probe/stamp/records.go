package stamp

// records counts TLS records in the bytes of a connection. A server that
// encrypts writes one record per flush, and the layer above hands them up one
// by one, so only the raw bytes still show that several came in one read.
type records struct {
	tls  bool
	left int // bytes of the present record still to come
	head [recordHead]byte
	have int // bytes of the present header
}

// recordHead is the length of a record's header: type, version, length.
const recordHead = 5

// count is the number of records that end in b, the next bytes of the stream.
func (r *records) count(b []byte) int {
	if !r.tls {
		// Looked at anew with each read: a tunnel through a proxy starts with
		// plain HTTP.
		if len(b) < recordHead || !isRecord([recordHead]byte(b)) {
			return 0
		}
		*r = records{tls: true}
	}
	n := 0
	for len(b) > 0 {
		if r.left > 0 {
			skip := min(r.left, len(b))
			r.left -= skip
			b = b[skip:]
			if r.left == 0 {
				n++
			}
			continue
		}
		take := copy(r.head[r.have:], b)
		r.have += take
		b = b[take:]
		if r.have < recordHead {
			break
		}
		r.have = 0
		if !isRecord(r.head) {
			*r = records{} // not TLS after all
			return n
		}
		r.left = int(r.head[3])<<8 | int(r.head[4])
		if r.left == 0 {
			n++
		}
	}
	return n
}

// isRecord tells whether h can be the header of a TLS record: one of the five
// content types, version 3.x, and no more than 2^14 bytes with the allowance
// that TLS 1.2 makes for padding.
func isRecord(h [recordHead]byte) bool {
	return h[0] >= 20 && h[0] <= 24 && h[1] == 3 && h[2] <= 4 && int(h[3])<<8|int(h[4]) <= 1<<14+2048
}

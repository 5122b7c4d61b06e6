// Package record turns events into bytes and back. One format serves the pipe
// of a live run, a recording on disk and a stream over ssh; docs/format.md
// describes it for people who read it with something else.
//
// A stream is a file header and then blocks. Every block has its own magic,
// checksums and the ordinal of its first event, so that a reader can drop a
// damaged one, find the next, and tell how many events are gone.
//
// Writer and Reader know nothing of what events mean, open no file and keep no
// more than one block in memory. Beside them stand Recorder, which writes a
// session to a file on a goroutine of its own, and Deck, which plays one back.
package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Version is the format's number. It grows only when an older reader would
// misread a newer stream.
const Version = 1

// MaxBlock is the most bytes of records one block holds, stored or
// decompressed. A reader takes anything above for damage.
const MaxBlock = 4 << 20

const (
	fileMagic  = "teapot\r\n" // a transfer that mends line ends breaks it, and is noticed
	fileSize   = 16
	blockMagic = "\xf5tpb" // 0xF5 never stands in UTF-8
	blockSize  = 36

	fileText  = 1 << 0 // file flag: Text events may stand in it
	blockZstd = 1 << 0 // block flag: the payload is one zstd frame
)

// castagnoli gives the checksum that x86 and ARM compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// ErrNotRecording says that a stream does not begin like a recording.
var ErrNotRecording = errors.New("not a teapot recording")

// appendFileHeader appends magic, version, flags and their checksum.
func appendFileHeader(dst []byte, flags uint16) []byte {
	at := len(dst)
	dst = append(dst, fileMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	dst = binary.LittleEndian.AppendUint16(dst, flags)
	return binary.LittleEndian.AppendUint32(dst, checksum(dst[at:]))
}

// parseFileHeader reads a file header. One that is cut (b is shorter than
// fileSize) or hit by a flipped byte is whole == false but no error: the blocks
// after it can still be read.
func parseFileHeader(b []byte) (flags uint16, whole bool, err error) {
	if len(b) == 0 {
		return 0, false, fmt.Errorf("%w: it is empty", ErrNotRecording)
	}
	if bytes.HasPrefix(b, []byte("teapot\n")) {
		return 0, false, fmt.Errorf("%w any more: a transfer in text mode changed its line ends", ErrNotRecording)
	}
	wrong := 0
	for i := range min(len(b), len(fileMagic)) {
		if b[i] != fileMagic[i] {
			wrong++
		}
	}
	if wrong > 1 || wrong > 0 && len(b) < fileSize {
		return 0, false, ErrNotRecording
	}
	if len(b) < fileSize || checksum(b[:12]) != binary.LittleEndian.Uint32(b[12:]) {
		return 0, false, nil
	}
	switch v := binary.LittleEndian.Uint16(b[8:]); {
	case v == 0:
		return 0, false, fmt.Errorf("%w: it says format 0", ErrNotRecording)
	case v > Version:
		return 0, false, fmt.Errorf("written by a newer teapot: format %d, this one reads up to %d", v, Version)
	}
	return binary.LittleEndian.Uint16(b[10:]), true, nil
}

// block is a block's header.
type block struct {
	flags  uint32
	stored int    // bytes of payload that follow
	raw    int    // bytes of records in it
	first  uint64 // ordinal of its first record in the stream, from 0
	count  int    // records in it
	sum    uint32 // of the payload as stored
}

// put writes the header into the first blockSize bytes of dst.
func (h *block) put(dst []byte) {
	le := binary.LittleEndian
	copy(dst, blockMagic)
	le.PutUint32(dst[4:], h.flags)
	le.PutUint32(dst[8:], uint32(h.stored))
	le.PutUint32(dst[12:], uint32(h.raw))
	le.PutUint64(dst[16:], h.first)
	le.PutUint32(dst[24:], uint32(h.count))
	le.PutUint32(dst[28:], h.sum)
	le.PutUint32(dst[32:], checksum(dst[:32]))
}

// parseBlock reads a block's header from blockSize bytes; ok is false when its
// checksum is wrong or its numbers cannot be.
func parseBlock(b []byte) (h block, ok bool) {
	le := binary.LittleEndian
	if string(b[:4]) != blockMagic || checksum(b[:32]) != le.Uint32(b[32:]) {
		return block{}, false
	}
	stored, raw, count := le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[24:])
	if stored > MaxBlock || raw > MaxBlock || count > raw/2 { // a record has at least two bytes
		return block{}, false
	}
	return block{
		flags: le.Uint32(b[4:]), stored: int(stored), raw: int(raw),
		first: le.Uint64(b[16:]), count: int(count), sum: le.Uint32(b[28:]),
	}, true
}

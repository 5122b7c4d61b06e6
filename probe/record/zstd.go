package record

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// packer compresses blocks. It exists only where compression was asked for:
// its tables are larger than the rest of a probe.
type packer struct {
	enc *zstd.Encoder
	buf []byte
}

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(2*blockTarget),
		zstd.WithEncoderCRC(false)) // the block has its own
	if err != nil {
		return nil, fmt.Errorf("record: start compression: %w", err)
	}
	return &packer{enc: enc, buf: make([]byte, blockSize)}, nil
}

// pack returns room for a block header and the compressed records after it,
// valid until the next call.
func (p *packer) pack(records []byte) []byte {
	p.buf = p.enc.EncodeAll(records, p.buf[:blockSize])
	return p.buf
}

// unpacker is packer's counterpart, made at the first compressed block.
type unpacker struct {
	dec *zstd.Decoder
	buf []byte
}

func newUnpacker() (*unpacker, error) {
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxBlock),
		zstd.WithDecoderMaxWindow(MaxBlock),
		zstd.WithDecodeAllCapLimit(true)) // never more than the room given
	if err != nil {
		return nil, fmt.Errorf("record: start decompression: %w", err)
	}
	return &unpacker{dec: dec}, nil
}

// unpack returns the decompressed payload, valid until the next call; ok is
// false unless that has exactly size bytes.
func (u *unpacker) unpack(payload []byte, size int) (records []byte, ok bool) {
	if cap(u.buf) < size {
		u.buf = make([]byte, 0, size)
	}
	records, err := u.dec.DecodeAll(payload, u.buf[:0:size])
	if err != nil || len(records) != size {
		return nil, false
	}
	return records, true
}

func (u *unpacker) close() { u.dec.Close() }

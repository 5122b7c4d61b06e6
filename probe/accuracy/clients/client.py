"""Two ways in which Python clients time a stream of tokens, on aiohttp.

client.py URL MODEL STREAMS TOKENS STAGGER_US parsed|arrival [CAFILE]

parsed: each event gets the time at which its turn to be decoded has come, the
way of vLLM's benchmark client. arrival: all events of a piece of the body get
the time at which the piece was handed over, and are decoded after the stream,
the way of AIPerf's present client. Output as client.c's.
"""
import asyncio
import json
import ssl
import sys
import time

import aiohttp


def events(buffer: bytearray):
    """Takes the complete events out of a buffer."""
    while True:
        end = buffer.find(b"\n\n")
        if end < 0:
            return
        event = bytes(buffer[:end])
        del buffer[: end + 2]
        yield event


async def parsed(content, out):
    buffer = bytearray()
    async for piece in content.iter_any():
        buffer += piece
        for event in events(buffer):
            text = event.decode().removeprefix("data: ")
            if text == "[DONE]":
                continue
            now = time.monotonic_ns()
            data = json.loads(text)
            if data["choices"] and data["choices"][0]["delta"].get("content"):
                out.append(now)


async def arrival(content, out):
    pieces = []
    async for piece in content.iter_any():
        pieces.append((time.monotonic_ns(), piece))
    buffer = bytearray()
    for now, piece in pieces:
        buffer += piece
        for event in events(buffer):
            text = event.decode().removeprefix("data: ")
            if text == "[DONE]":
                continue
            data = json.loads(text)
            if data["choices"] and data["choices"][0]["delta"].get("content"):
                out.append(now)


async def one(session, url, model, i, tokens, read, sent, out):
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "tea"}],
        "stream": True,
        "max_tokens": tokens,
    }
    sent[i] = time.monotonic_ns()
    async with session.post(
        url + "/v1/chat/completions", json=body, headers={"X-Request-Id": f"c-{i}"}
    ) as response:
        response.raise_for_status()
        await read(response.content, out[i])


async def main():
    url, model, streams, tokens, stagger, way = sys.argv[1:7]
    streams, tokens, stagger = int(streams), int(tokens), int(stagger)
    context = ssl.create_default_context(cafile=sys.argv[7]) if len(sys.argv) > 7 else None
    read = {"parsed": parsed, "arrival": arrival}[way]
    sent, out = [0] * streams, [[] for _ in range(streams)]
    connector = aiohttp.TCPConnector(limit=0, ssl=context if context else True)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        tasks = []
        for i in range(streams):
            tasks.append(
                asyncio.create_task(one(session, url, model, i, tokens, read, sent, out))
            )
            if stagger:
                await asyncio.sleep(stagger / 1e6)
        await asyncio.gather(*tasks)
    lines = []
    for i in range(streams):
        lines.append(f"sent {i} {sent[i]}")
        lines.extend(f"{i} {j} {at} 0" for j, at in enumerate(out[i]))
    sys.stdout.write("\n".join(lines) + "\n")


asyncio.run(main())

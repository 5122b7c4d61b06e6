"""Two ways in which Python clients time a stream of tokens, on aiohttp.

client.py URL MODEL STREAMS TOKENS STAGGER_US parsed|arrival [CAFILE]

parsed, the way of vLLM's benchmark client: each event gets the time at which
its turn to be decoded has come, and is decoded at once; what the collector had
to look at before the start is frozen. arrival, the way of AIPerf's present
worker: all events of a piece of the body get the time at which the piece was
handed over and are taken apart into fields at once, their JSON after the
stream; on uvloop, and without a collector. A URL of unix:// is a socket's.

Output as client.c's. The CPU time is that from the first request on, without
the JSON that arrival decodes after the stream.
"""
import asyncio
import gc
import json
import ssl
import sys
import time

import aiohttp


def take(buffer: bytearray):
    """Takes the next complete event out of a buffer, None if there is none."""
    end = buffer.find(b"\n\n")
    if end < 0:
        return None
    text = buffer[:end].decode("utf-8", "replace").strip()
    del buffer[: end + 2]
    return text


def has_text(data):
    choices = data.get("choices")
    return bool(choices and choices[0]["delta"].get("content"))


async def parsed(content, out):
    buffer = bytearray()
    async for piece in content.iter_any():
        buffer += piece
        while (text := take(buffer)) is not None:
            text = text.removeprefix("data: ")
            if text == "[DONE]":
                continue
            now = time.perf_counter_ns()
            if has_text(json.loads(text)):
                out.append(now)


def fields(text):
    """The lines of an event as pairs of a name and a value."""
    pairs = []
    for line in text.split("\n"):
        name, _, value = line.partition(":")
        pairs.append((name.strip(), value.strip()))
    return pairs


async def arrival(content, out):
    buffer = bytearray()
    async for piece in content.iter_any():
        now = time.perf_counter_ns()
        buffer += piece
        while (text := take(buffer)) is not None:
            if text:
                out.append((now, fields(text)))


def decoded(events):
    """The times of the events of arrival that hold text."""
    times = []
    for now, pairs in events:
        data = "\n".join(value for name, value in pairs if name == "data")
        if data != "[DONE]" and has_text(json.loads(data)):
            times.append(now)
    return times


async def one(session, url, model, i, tokens, read, sent, out):
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "tea"}],
        "stream": True,
        "max_tokens": tokens,
    }
    sent[i] = time.perf_counter_ns()
    async with session.post(
        url + "/v1/chat/completions", json=body, headers={"X-Request-Id": f"c-{i}"}
    ) as response:
        response.raise_for_status()
        await read(response.content, out[i])


async def main(way):
    url, model, streams, tokens, stagger = sys.argv[1:6]
    streams, tokens, stagger = int(streams), int(tokens), int(stagger)
    read = {"parsed": parsed, "arrival": arrival}[way]
    sent, out = [0] * streams, [[] for _ in range(streams)]
    if url.startswith("unix://"):
        connector = aiohttp.UnixConnector(path=url.removeprefix("unix://"), limit=0)
        url = "http://localhost"
    else:
        context = ssl.create_default_context(cafile=sys.argv[7]) if len(sys.argv) > 7 else True
        connector = aiohttp.TCPConnector(limit=0, ssl=context)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        cpu = time.process_time_ns()
        tasks = []
        for i in range(streams):
            tasks.append(
                asyncio.create_task(one(session, url, model, i, tokens, read, sent, out))
            )
            if stagger:
                await asyncio.sleep(stagger / 1e6)
        await asyncio.gather(*tasks)
        cpu = time.process_time_ns() - cpu
    lines = []
    for i in range(streams):
        lines.append(f"sent {i} {sent[i]}")
        times = decoded(out[i]) if way == "arrival" else out[i]
        lines.extend(f"{i} {j} {at} 0" for j, at in enumerate(times))
    lines.append(f"cpu {cpu}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    if sys.argv[6] == "arrival":
        import uvloop

        gc.disable()
        uvloop.run(main("arrival"))
    else:
        asyncio.run(main("parsed"))

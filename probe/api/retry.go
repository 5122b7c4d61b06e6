package api

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetry is the longest wait taken from a server.
const maxRetry = 24 * time.Hour

// retryAfter reads how long to wait: milliseconds, seconds or a date, or with a
// 429 when an exhausted limit is filled up again. A date is taken against the
// server's own clock where the reply tells it.
func retryAfter(now time.Time, status int, h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return wait(ms * 1e6)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		if status != http.StatusTooManyRequests {
			return 0
		}
		return refill(clockOf(now, h), h)
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return wait(s * 1e9)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return wait(float64(at.Sub(clockOf(now, h))))
}

// clockOf is the time by the server's clock, now where it does not tell.
func clockOf(now time.Time, h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// refill is when the last of the limits of which nothing is left is filled up,
// as OpenAI says it (6m0s) and as Anthropic does (a date).
func refill(now time.Time, h http.Header) time.Duration {
	var longest time.Duration
	for _, what := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) == "0" {
			d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what))
			if err == nil {
				longest = max(longest, wait(float64(d)))
			}
		}
		if h.Get("Anthropic-Ratelimit-"+what+"-Remaining") == "0" {
			at, err := time.Parse(time.RFC3339, h.Get("Anthropic-Ratelimit-"+what+"-Reset"))
			if err == nil {
				longest = max(longest, wait(float64(at.Sub(now))))
			}
		}
	}
	return longest
}

// wait bounds a time in ns to what can be waited for.
func wait(ns float64) time.Duration {
	if math.IsNaN(ns) || ns <= 0 {
		return 0
	}
	return time.Duration(min(ns, float64(maxRetry)))
}

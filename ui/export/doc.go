// Package export gives what teapot measured to other tools: a page of metrics
// that Prometheus scrapes while a session runs, and, of a recording, interval
// logs for HdrHistogram's tools, a trace for Perfetto, tables for spreadsheets,
// and the JSON that scripts for vLLM's benchmark read.
//
// It reads snapshots, distributions and events. It measures nothing, changes no
// number, and must not disturb a session: everything here runs in the viewer,
// never in the probe. It must not let a secret or a reply's text out.
package export

/**
 * What the gateway tells about itself: events inside the process, the numbered stream for clients, and the log.
 * Nothing here can break or slow down the work it watches: listeners that throw are logged, a full disk costs
 * log lines and nothing else. Secrets given to the redactor never reach a line.
 */
export { createClientStream, type ClientStreamOptions } from "./client-stream.ts";
export { createEvents } from "./events.ts";
export { type LogDeps, type LogOptions, type LogSink, openLog } from "./log.ts";
export type { ConsoleStyle } from "./log-console.ts";
export { listLogFiles, type LogFileName } from "./log-files.ts";
export { formatLogRecord, LOG_LEVELS, type LogLevel, type LogRecord, parseLogLine } from "./log-text.ts";
export { keepMemoryFlat } from "./memory.ts";
export { createMetrics, type LiveMetrics, type MetricsDeps } from "./metrics/metrics.ts";
export type { LogDisk } from "./log-writer.ts";
export { createRedactor, type Redactor } from "./redaction/redact.ts";
export { startTranscripts, type TranscriptDeps, type TranscriptSettings } from "./transcripts/transcripts.ts";
export { visible, visibleLines } from "./visible.ts";

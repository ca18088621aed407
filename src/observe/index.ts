/**
 * What the gateway tells about itself: events inside the process, the numbered stream for clients, and the log.
 * Nothing here can break or slow down the work it watches: listeners that throw are logged, a full disk costs
 * log lines and nothing else. Secrets given to the redactor never reach a line.
 */
export { createClientStream } from "./client-stream.ts";
export { createEvents } from "./events.ts";
export { openLog } from "./log.ts";
export { listLogFiles } from "./log-files.ts";
export { formatLogRecord, LOG_LEVELS, type LogLevel, parseLogLine } from "./log-text.ts";
export { readLogs } from "./read-logs.ts";
export { keepMemoryFlat } from "./memory.ts";
export { createMetrics, type LiveMetrics } from "./metrics/metrics.ts";
export { createRedactor, type Redactor } from "./redaction/redact.ts";
export { startTelemetry } from "./telemetry.ts";
export { startTranscripts, type TranscriptSettings } from "./transcripts/transcripts.ts";
export { visible, visibleLines } from "./visible.ts";

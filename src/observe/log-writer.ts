/**
 * Writes finished lines to `gateway-DAY.N.log`: a new file every UTC day and every 10 MiB, old ones deleted. Lines wait in a small buffer.
 * A disk that refuses costs lines, never an exception and never a wait: what was lost is counted and said once it works again.
 */
import { join } from "node:path";
import type { Clock } from "../kit/clock.ts";
import { dayOf, expiredLogFiles, listLogFiles, logFileName } from "./log-files.ts";
import { type FileDisk, makeFolder } from "./private-files.ts";

interface LogWriterOptions {
  readonly folder: string;
  readonly retentionDays: number;
  readonly maxFileBytes: number;
  /** The line that says how many lines were lost. */
  lostLine(lines: number): string;
}

export interface LogWriter extends Disposable {
  write(line: string): void;
  flush(): void;
  /** Lines lost so far, those already reported included. */
  lost(): number;
}

const MAX_BUFFER_BYTES = 64 * 1024;
/** A line waits in the buffer at most this long. */
const FLUSH_AFTER_MS = 250;
/** A disk that refused is asked again after this long. */
const RETRY_AFTER_MS = 1_000;
const LF = "\n";

/** Makes the folder and opens today's file; throws when that is not possible, because at a start someone is there to read it. */
export function openLogWriter(
  deps: { readonly clock: Clock; readonly disk: FileDisk },
  options: LogWriterOptions,
): LogWriter {
  makeFolder(options.folder);
  const out = openCurrentFile(deps, options);
  const stopping = new AbortController();
  let waiting: string[] = [];
  let waitingBytes = 0;
  let flushPlanned = false;
  let lostNow = 0;
  let lostBefore = 0;
  let retryAt = 0;

  const flush = (): void => {
    if (waiting.length === 0) return;
    const lines = waiting;
    waiting = [];
    waitingBytes = 0;
    if (lostNow > 0 && deps.clock.elapsed() < retryAt) {
      lostNow += lines.length;
      return;
    }
    const report = lostNow > 0 ? [options.lostLine(lostNow)] : [];
    if (out.append(`${[...report, ...lines].join(LF)}${LF}`)) {
      lostBefore += lostNow;
      lostNow = 0;
      return;
    }
    lostNow += lines.length;
    retryAt = deps.clock.elapsed() + RETRY_AFTER_MS;
  };
  const flushSoon = (): void => {
    if (flushPlanned) return;
    flushPlanned = true;
    deps.clock.sleep(FLUSH_AFTER_MS, stopping.signal).then(
      () => {
        flushPlanned = false;
        flush();
      },
      () => undefined, // closing: dispose flushes
    );
  };

  return {
    write(line) {
      waiting.push(line);
      waitingBytes += line.length;
      if (waitingBytes >= MAX_BUFFER_BYTES) flush();
      else flushSoon();
    },
    flush,
    lost: () => lostBefore + lostNow,
    [Symbol.dispose]() {
      stopping.abort();
      retryAt = 0; // the last chance
      flush();
      out.close();
    },
  };
}

interface CurrentFile {
  /** False when the disk refused; some of the text may have been written. */
  append(text: string): boolean;
  close(): void;
}

function openCurrentFile(
  deps: { readonly clock: Clock; readonly disk: FileDisk },
  options: LogWriterOptions,
): CurrentFile {
  const { clock, disk } = deps;
  let file: { readonly fd: number; readonly day: string; readonly number: number } | null = null;
  let bytes = 0;
  let torn = false; // the last write stopped in the middle of a line

  const close = (): void => {
    if (file) disk.close(file.fd);
    file = null;
  };
  const openAt = (day: string, number: number): void => {
    const opened = disk.open(join(options.folder, logFileName(day, number)));
    file = { fd: opened.fd, day, number };
    bytes = opened.bytes;
    removeExpired(deps, options);
  };
  const openFor = (day: string, more: number): number => {
    if (!file || file.day !== day) {
      close();
      openAt(day, listLogFiles(options.folder).findLast((known) => known.day === day)?.number ?? 1);
    }
    while (file && bytes > 0 && bytes + more > options.maxFileBytes) {
      const next: number = file.number + 1;
      close();
      openAt(day, next);
    }
    if (!file) throw new Error("no log file is open");
    return file.fd;
  };
  openFor(dayOf(clock.now()), 0);

  return {
    append(text) {
      const data = Buffer.from(torn ? `${LF}${text}` : text, "utf8");
      let done = 0;
      try {
        const fd = openFor(dayOf(clock.now()), data.length);
        while (done < data.length) {
          const taken = disk.write(fd, data.subarray(done));
          if (taken <= 0) throw new Error("the disk took nothing");
          done += taken;
        }
        torn = false;
        return true;
      } catch {
        torn ||= done > 0; // the caller counts and reports what was lost; there is nowhere else to say it
        return false;
      } finally {
        bytes += done;
      }
    },
    close,
  };
}

function removeExpired(deps: { readonly clock: Clock; readonly disk: FileDisk }, options: LogWriterOptions): void {
  for (const { name } of expiredLogFiles(listLogFiles(options.folder), deps.clock.now(), options.retentionDays)) {
    try {
      deps.disk.remove(join(options.folder, name));
    } catch {
      // Gone already or not ours to delete; the next rotation tries again.
    }
  }
}

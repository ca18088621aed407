/** The talk on one pipe: requests answered by id, events to listeners, dialogs to one servant, stray lines counted. Knows no process. */
import { type Deferred, deferred, orAborted } from "../../kit/deferred.ts";
import { createLineSplitter } from "../../kit/jsonl.ts";
import type { Log } from "../../kit/log.ts";
import type { ChatNote } from "../../contracts/channels/question.ts";
import { type Asks, type Fields, MAX_LINE_BYTES, type PiEvent, type PiRecord, parseRecord } from "../talk/protocol.ts";

const MAX_STRAY_LINES = 200;

export type Answer = { readonly ok: true; readonly data: Fields } | { readonly ok: false; readonly error: string };

export interface Dialog {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  /** The same as a question to a person. */
  readonly asks?: Asks;
}

/** What others may do with a pipe. */
export interface Talk {
  /** Waits for the response with the same id. Rejects when the process ends or the signal aborts. */
  request(command: Fields, signal: AbortSignal): Promise<Answer>;
  /** Writes a record that has no response. */
  send(record: Fields): void;
  onEvent(listener: (event: PiEvent) => void): Disposable;
  onDialog(servant: (dialog: Dialog) => void): void;
  onNote(listener: (note: ChatNote) => void): void;
  onExtensionError(listener: (error: string) => void): void;
}

interface Wire extends Talk {
  push(chunk: Uint8Array): void;
  /** Nothing more will come: whoever waits is told why. */
  close(reason: unknown): void;
}

interface WireEnds {
  write(line: string): void;
  /** What arrives is not understood, or too long to be read. */
  garbled(why: string): void;
}

export function createWire(log: Log, ends: WireEnds): Wire {
  const listeners = new Set<(event: PiEvent) => void>();
  const counts = { stray: 0, unknown: 0 };
  let servant: (dialog: Dialog) => void = () => undefined;
  let noted: (note: ChatNote) => void = () => undefined;
  let extensionError: (error: string) => void = () => undefined;

  const send = (record: Fields): void => ends.write(`${JSON.stringify(record)}\n`);
  const requests = createRequests(log, send);

  const take = (record: PiRecord): void => {
    switch (record.kind) {
      case "response":
        return requests.answered(record);
      case "event":
        for (const listener of listeners) listener(record.event);
        return;
      case "dialog":
        return servant(record);
      case "note":
        return noted(record.note);
      case "extension_error":
        log.warn("the bridge reported an error", { where: record.where });
        return extensionError(record.error);
      case "unknown":
        if (counts.unknown++ === 0) log.debug("agent record of an unknown type", { type: record.type.slice(0, 64) });
        return;
      case "stray":
        if (++counts.stray > MAX_STRAY_LINES) ends.garbled(`more than ${MAX_STRAY_LINES} lines that are no records`);
    }
  };
  const lines = createLineSplitter(MAX_LINE_BYTES, {
    line: (line) => take(parseRecord(line)),
    tooLong: (bytes) => ends.garbled(`a line of more than ${bytes} bytes`),
  });

  return {
    push: (chunk) => lines.push(chunk),
    send,
    request: requests.request,
    onEvent(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
    onDialog: (given) => {
      servant = given;
    },
    onNote: (given) => {
      noted = given;
    },
    onExtensionError: (given) => {
      extensionError = given;
    },
    close(reason) {
      requests.close(reason);
      if (counts.stray > 0) log.debug("agent wrote lines that are no records", { lines: counts.stray });
    },
  };
}

/** What was asked and is not answered yet. */
function createRequests(log: Log, send: (record: Fields) => void) {
  const waiting = new Map<string, Deferred<Answer>>();
  let closed: { readonly reason: unknown } | null = null;
  let sequence = 0;
  let unasked = 0;
  return {
    async request(command: Fields, signal: AbortSignal): Promise<Answer> {
      signal.throwIfAborted();
      if (closed) throw closed.reason;
      const id = String(++sequence);
      const answer = deferred<Answer>();
      waiting.set(id, answer);
      send({ id, ...command });
      return orAborted(answer.promise, signal).finally(() => waiting.delete(id));
    },
    answered(record: Extract<PiRecord, { kind: "response" }>): void {
      const asked = waiting.get(record.id);
      // whoever asked may have given up; more than that would be a mistake, and is worth a line
      if (!asked && unasked++ === 0) log.debug("agent answered something nobody waits for");
      asked?.resolve(record);
    },
    close(reason: unknown): void {
      closed = { reason };
      for (const one of waiting.values()) one.reject(reason);
    },
  };
}

/** A thread with a connection of its own that can only read. It answers one query after the other, in the order they were asked. */
import { pathToFileURL } from "node:url";
import { type Deferred, deferred } from "../../kit/deferred.ts";
import type { Answer, Query } from "../steps.ts";

/** As text, so that a bundle and a single executable need no second file for it. */
const WORKER = `
import { constants, Database } from "bun:sqlite";
let db = null;
self.onmessage = ({ data }) => {
  if (data.url) {
    db = new Database(data.url, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
    db.exec("pragma trusted_schema = off");
    db.exec("pragma busy_timeout = 1000");
    return;
  }
  if (data.end) {
    db?.close(true);
    return postMessage({ no: data.no, rows: [] });
  }
  try {
    const statement = db.prepare(data.text);
    try {
      postMessage({ no: data.no, rows: statement.all(...data.values) });
    } finally {
      statement.finalize();
    }
  } catch (error) {
    postMessage({ no: data.no, failed: { message: error.message, code: error.code } });
  }
};
`;

interface Reply {
  readonly no: number;
  readonly rows?: readonly unknown[];
  readonly failed?: { readonly message: string; readonly code?: string };
}

export interface SearchThread {
  ask(query: Query): Promise<Answer>;
  /** Resolves when its connection is closed; not before the query that it works on has ended. Never rejects. */
  end(): Promise<void>;
  /** Without waiting for anything. What was asked is never answered. */
  kill(): void;
}

export function startSearchThread(databaseFile: string): SearchThread {
  const source = URL.createObjectURL(new Blob([WORKER], { type: "application/javascript" }));
  const worker = new Worker(source);
  worker.unref(); // while nobody waits for an answer, it keeps no process from ending
  const open = new Map<number, Deferred<readonly unknown[]>>();
  let asked = 0;
  let broken: Error | null = null;
  worker.onmessage = ({ data: { no, rows, failed } }: MessageEvent<Reply>) => {
    const one = open.get(no);
    open.delete(no);
    if (open.size === 0) worker.unref();
    if (failed) one?.reject(Object.assign(new Error(failed.message), { code: failed.code }));
    else one?.resolve(rows ?? []);
  };
  worker.onerror = ({ message }) => {
    broken = new Error(`the thread for searches has failed: ${message}`);
    for (const one of open.values()) one.reject(broken);
    open.clear();
  };
  worker.postMessage({ url: `${pathToFileURL(databaseFile).href}?mode=ro` });

  const send = (message: object): Promise<readonly unknown[]> => {
    if (broken) return Promise.reject(broken);
    const no = ++asked;
    const answer = deferred<readonly unknown[]>();
    open.set(no, answer);
    worker.ref();
    worker.postMessage({ ...message, no });
    return answer.promise;
  };
  const kill = (): void => {
    worker.terminate();
    URL.revokeObjectURL(source);
  };
  return {
    async ask({ text, values }) {
      const rows = await send({ text, values });
      return { rows, count: rows.length };
    },
    async end() {
      await send({ end: true }).catch(() => undefined); // it is broken, and holds nothing
      kill();
    },
    kill,
  };
}

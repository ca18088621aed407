/** Clients that say something all the time, and keep at it under the same key until they have an answer. What was acknowledged is kept for the verdict. */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";

const PAUSE_MS = 40;
const ANSWER_MS = 5_000;

export interface Clients extends AsyncDisposable {
  /** Texts that the gateway has answered, which it must never forget. */
  readonly acknowledged: ReadonlySet<string>;
}

/** A command that does not exist is a message like others, and costs no model and no agent. */
export function startClients(home: string, url: string, count: number): Clients {
  const acknowledged = new Set<string>();
  const over = new AbortController();
  const pause = (): Promise<void> => systemClock.sleep(PAUSE_MS, over.signal).catch(() => undefined); // the end of the test ends it
  const talk = async (client: number): Promise<void> => {
    for (let at = 0; !over.signal.aborted;) {
      const text = `/word-${client}-${at}`;
      const isAnswered = await say(home, url, { text, session: `client-${client}` });
      if (isAnswered) {
        acknowledged.add(text);
        at++;
      }
      await pause();
    }
  };
  const talks = Promise.all(Array.from({ length: count }, (_, client) => talk(client)));
  return {
    acknowledged,
    async [Symbol.asyncDispose]() {
      over.abort();
      await talks;
    },
  };
}

/** True: it was answered. */
async function say(
  home: string,
  url: string,
  message: { readonly text: string; readonly session: string },
): Promise<boolean> {
  try {
    const token = readFileSync(join(home, "token"), "utf8").trim();
    const response = await fetch(`${url}/api/chat`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": message.text,
      },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return response.status === 200;
  } catch {
    return false; // killed, or not there yet: the same again
  }
}

interface Rows {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
}

/** Looks into the database itself. */
export function checkRows(home: string, acknowledged: ReadonlySet<string>): Rows {
  const db = new Database(join(home, "gateway.db"), { readonly: true });
  try {
    const stored = db.query("select text, count(*) as count from inbox group by text").all() as {
      readonly text: string;
      readonly count: number;
    }[];
    const counts = new Map(stored.map(({ text, count }) => [text, count]));
    const texts = [...acknowledged];
    return {
      lost: texts.filter((text) => !counts.has(text)),
      doubled: texts.filter((text) => (counts.get(text) ?? 0) > 1),
    };
  } finally {
    db.close();
  }
}

/**
 * Reads a Postgres database while this thread stands still, so that nothing can happen between a question and its answer: the checks of the simulation
 * look at one moment. A second thread asks the server.
 */
import { FAILED, HEADER_BYTES, type Question, READY, RESULT_BYTES, STATE } from "./reader-thread.ts";

export interface Reader extends Disposable {
  rows<Row>(text: string, ...values: readonly (string | number)[]): readonly Row[];
}

/** The server answers in milliseconds; a machine that is busy needs some more: half a minute in all. */
const LOOK_MS = 100;
const MAX_LOOKS = 300;

/** Resolves when it is connected. */
export async function openReader(url: string): Promise<Reader> {
  const shared = new SharedArrayBuffer(HEADER_BYTES + RESULT_BYTES);
  const header = new Int32Array(shared, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT);
  const worker = new Worker(new URL("./reader-thread.ts", import.meta.url).href);
  await new Promise<void>((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ url, shared });
  });
  return {
    rows<Row>(text: string, ...values: readonly (string | number)[]): readonly Row[] {
      Atomics.store(header, STATE, 0);
      worker.postMessage({ text: numbered(text), values } satisfies Question);
      // a wait may end without an answer, and an answer may come before the wait
      for (let looks = 0; Atomics.load(header, STATE) === 0; looks++) {
        if (looks === MAX_LOOKS) throw new Error("Postgres does not answer");
        Atomics.wait(header, STATE, 0, LOOK_MS);
      }
      const length = header[1] ?? 0;
      const answer = new TextDecoder().decode(new Uint8Array(shared, HEADER_BYTES, length).slice());
      const state = Atomics.load(header, STATE);
      if (state === FAILED) throw new Error(`${answer}: ${text}`);
      if (state !== READY) throw new Error("the reader answers something else");
      return JSON.parse(answer) as Row[];
    },
    [Symbol.dispose]: () => worker.terminate(),
  };
}

/** Postgres counts its parameters. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => `$${++count}`);
}

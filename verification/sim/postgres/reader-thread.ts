/** The thread of `reader.ts`: asks the server one question after the other, and puts each answer where the other thread waits for it. */
import { systemClock } from "../../../src/kit/clock.ts";
import { type Connection, connect } from "../../../src/store/postgres/connection.ts";

export interface Question {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** State of the answer, and its length. */
export const HEADER_BYTES = 8;
export const RESULT_BYTES = 8 * 1024 * 1024;
export const STATE = 0;
export const READY = 1;
export const FAILED = 2;

interface Beginning {
  readonly url: string;
  readonly shared: SharedArrayBuffer;
}

if (!Bun.isMainThread) {
  let asking: { readonly connection: Connection; readonly shared: SharedArrayBuffer } | null = null;
  const take = async (message: Beginning | Question): Promise<void> => {
    if ("url" in message) {
      asking = { connection: await connect({ clock: systemClock, url: message.url }), shared: message.shared };
      return postMessage("connected");
    }
    if (asking === null) return;
    const { connection, shared } = asking;
    try {
      const { rows } = await connection.ask({ ...message, name: null });
      tell(shared, READY, JSON.stringify(rows));
    } catch (error) {
      tell(shared, FAILED, String(error));
    }
  };
  addEventListener("message", ({ data }: MessageEvent<Beginning | Question>) => void take(data));
}

/** An answer that is too long is a failure. */
function tell(shared: SharedArrayBuffer, state: number, text: string): void {
  const header = new Int32Array(shared, 0, 2);
  const bytes = new TextEncoder().encode(text);
  const fits = bytes.length <= RESULT_BYTES;
  if (fits) new Uint8Array(shared, HEADER_BYTES).set(bytes);
  header[1] = fits ? bytes.length : 0;
  Atomics.store(header, STATE, fits ? state : FAILED);
  Atomics.notify(header, STATE);
}

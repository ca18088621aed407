/** A client of the event socket for tests: asks, and remembers every event in the order it came. */
import type { WireMethods } from "../../contracts/wire.ts";
import { onFrames } from "./frames.ts";
import { TOKEN, type HttpWorld } from "./http-fixture.ts";
import { waitForEnd } from "../wait-for.ts";

export interface WsClient extends Disposable {
  readonly socket: WebSocket;
  readonly events: { readonly event: string; readonly seq: number; readonly data: Record<string, unknown> }[];
  ask<M extends keyof WireMethods>(method: M, params: WireMethods[M]["params"]): Promise<WireMethods[M]["result"]>;
  /** Sends anything and resolves with the next answer, whatever its id. */
  askRaw(frame: string | Uint8Array<ArrayBuffer>): Promise<Record<string, unknown>>;
  readonly closed: Promise<number>;
}

export async function openWs(world: HttpWorld, headers?: Record<string, string>): Promise<WsClient> {
  const sent = headers ?? { authorization: `Bearer ${TOKEN}` };
  const socket = new WebSocket(world.url("/ws").replace("http", "ws"), { headers: sent });
  const answers = new Map<string, (answer: Record<string, unknown>) => void>();
  let anyAnswer: ((answer: Record<string, unknown>) => void) | null = null;
  const events: WsClient["events"] = [];
  const closed = Promise.withResolvers<number>();
  onFrames(socket, {
    frame(data) {
      const frame = JSON.parse(String(data));
      if ("event" in frame) return void events.push(frame);
      answers.get(frame.id)?.(frame);
      anyAnswer?.(frame);
    },
    closed: (code) => closed.resolve(code),
  });
  const opened = new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("socket was refused")));
  });
  await waitForEnd("an open socket", opened);
  let count = 0;
  return {
    socket,
    events,
    closed: closed.promise,
    async ask(method, params) {
      const id = `ask-${++count}`;
      const answered = new Promise<Record<string, unknown>>((resolve) => {
        answers.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      });
      const answer = await waitForEnd(`the answer to ${method}`, answered);
      if (answer["ok"] !== true) throw new Error(JSON.stringify(answer["error"]));
      return answer["result"] as never;
    },
    askRaw(frame) {
      const answered = new Promise<Record<string, unknown>>((resolve) => {
        anyAnswer = resolve;
        socket.send(frame);
      });
      return waitForEnd("the answer to a frame", answered);
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

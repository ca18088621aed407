/** Requests and answers on the pipe of one process: each is answered once, and nothing is kept of those that were. */
import { expect, test } from "bun:test";
import { recordingLog } from "../../testing/recording-log.ts";
import { createWire } from "./wire.ts";

const NEVER = new AbortController().signal;

test("a request is forgotten when it was answered: a second answer to it, and one to nothing, are noticed once", async () => {
  const log = recordingLog();
  const sent: string[] = [];
  const wire = createWire(log, { write: (line) => void sent.push(line), garbled: () => undefined });
  const answer = (id: string) =>
    wire.push(
      new TextEncoder().encode(`${JSON.stringify({ id, type: "response", command: "x", success: true, data: {} })}\n`),
    );
  const strays = () => log.lines.filter(({ words }) => words === "agent answered something nobody waits for");

  const first = wire.request({ type: "x" }, NEVER);
  const { id } = JSON.parse(sent[0] ?? "") as { id: string };
  answer(id);
  expect(await first).toMatchObject({ ok: true });
  expect(strays()).toHaveLength(0);
  answer(id);
  expect(strays()).toHaveLength(1);
  answer("999");
  expect(strays()).toHaveLength(1);
});

/** What the row of a call says while it waits for the owner. */
import { expect, test } from "bun:test";
import type { ToolCallStore, ToolIntent } from "../../contracts/store/tool-calls.ts";
import type { ToolRequest } from "../../contracts/tools/tool.ts";
import { caller } from "../../testing/agent-fixture.ts";
import { createEvents } from "../../observe/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { createRecord } from "./record.ts";

const CALL = { tool: "write_file", params: {}, idempotent: false };

function world() {
  const steps: string[] = [];
  const store = {
    intend: async ({ waiting }: ToolIntent) => steps.push(waiting ? "waits" : "runs") > 0,
    begin: async () => void steps.push("begins"),
  } as unknown as ToolCallStore;
  const log = recordingLog();
  const deps = { clock: createFakeClock(), ids: createSeqIds(), log, store, events: createEvents({ log }) };
  const context = { ...caller("webchat:1"), stats: () => Promise.reject(new Error("nobody asks")) };
  const request: ToolRequest = { tool: "write_file", callId: "c1", params: {}, path: "pipe", context };
  return { steps, record: createRecord({ ...deps, scrub: (text) => text }, request, "hash") };
}

test("the row of a call that waits for the owner says so, so that a crash meanwhile leaves its turn safe to try again", async () => {
  const { record, steps } = world();
  await record.waits(CALL);
  expect(steps).toEqual(["waits"]);
  await record.begins(CALL);
  expect(steps).toEqual(["waits", "begins"]);
});

test("the row of a call that runs at once does not say that it waits", async () => {
  const { record, steps } = world();
  await record.begins(CALL);
  expect(steps).toEqual(["runs"]);
});

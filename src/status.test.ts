import { expect, test } from "bun:test";
import { NO_MASK } from "./kit/secret.ts";
import { createFakeClock } from "./testing/fake-clock.ts";
import { createStatus, type StatusDeps } from "./status.ts";

function noticesWith(outbox: { dead: number; ambiguous: number }, trouble: string | null = null): readonly string[] {
  const pool = { stats: () => ({ model: null, trouble, starting: 0, idle: 0, busy: 0, waiting: 0, max: 1 }) };
  const deps = {
    clock: createFakeClock(),
    pool,
    store: { health: { notices: () => ["about the database"] } },
    queue: { stats: () => ({ waiting: 0, running: 0 }) },
    outbox: { stats: () => ({ pending: 0, ...outbox }) },
    channels: { health: () => [] },
    budget: { limits: () => [], notices: () => [] },
    plugins: { list: () => [], notices: () => [] },
    reloader: {
      status: () => ({ file: null, applied: true, problems: [] }),
      notices: () => ["about the configuration"],
    },
    automation: { notices: () => [] },
    mask: NO_MASK,
  } as unknown as StatusDeps;
  return createStatus(deps, { version: "1", page: { build: "b" } })().notices;
}

test("the status says how many replies did not arrive, and where to read about them", () => {
  expect(noticesWith({ dead: 0, ambiguous: 0 })).toEqual(["about the database", "about the configuration"]);
  expect(noticesWith({ dead: 3, ambiguous: 1 }, "no pi")).toEqual([
    "about the database",
    "no pi",
    "3 replies of the last day could not be delivered. GET /api/outbox?state=dead lists what and why.",
    "1 reply of the last day may have arrived twice, or not at all. GET /api/outbox?state=ambiguous lists it.",
    "about the configuration",
  ]);
});

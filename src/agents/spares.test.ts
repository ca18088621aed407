import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { countSpares, missingSpares, usefulSpares } from "./spares.ts";
import type { WorkerState } from "./worker-state.ts";

const served = { principal: "web:user:me" as Principal, role: "owner" } as const;
const fresh: WorkerState = { at: "idle", since: 0, served: null, sessionFile: null };
const used: WorkerState = { at: "idle", since: 0, served, sessionFile: "a" };
const busy: WorkerState = { at: "busy", since: 0, served, sessionFile: "a" };
const starting: WorkerState = { at: "starting", since: 0 };

test.each<[string, WorkerState[], boolean, number]>([
  ["nothing runs", [], false, 0],
  ["a fresh one is a spare", [fresh], false, 1],
  ["one that has served somebody is not", [used, busy], false, 0],
  ["one that has served somebody is, where people share", [used, busy], true, 1],
  ["one that is starting will be one", [starting, busy], false, 1],
])("%s", (_name, states, shared, spares) => {
  expect(countSpares(states, shared)).toBe(spares);
});

test("no spares are kept where each person has a folder of their own, and as many as are asked for elsewhere", () => {
  expect(usefulSpares({ min: 2, personal: true }).count).toBe(0);
  expect(usefulSpares({ min: 2, personal: false }).count).toBe(2);
});

test.each([
  [{ spares: 0, alive: 0, min: 1, max: 4 }, 1],
  [{ spares: 1, alive: 1, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 1, min: 1, max: 4 }, 1],
  [{ spares: 0, alive: 4, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 3, min: 2, max: 4 }, 1],
  [{ spares: 3, alive: 3, min: 1, max: 4 }, 0],
  [{ spares: 0, alive: 0, min: 0, max: 4 }, 0],
])("with %j so many are missing: %i", (facts, missing) => {
  expect(missingSpares(facts)).toBe(missing);
});

import { expect, test } from "bun:test";
import type { Principal } from "../contracts/ids.ts";
import { countSpares, missingSpares } from "./spares.ts";
import type { WorkerState } from "./worker-state.ts";

const served = { principal: "web:user:me" as Principal, role: "owner" } as const;
const fresh: WorkerState = { at: "idle", since: 0, served: null, sessionFile: null };
const used: WorkerState = { at: "idle", since: 0, served, sessionFile: "a" };
const busy: WorkerState = { at: "busy", since: 0, served, sessionFile: "a" };
const starting: WorkerState = { at: "starting", since: 0 };

test.each<[string, WorkerState[], { claimed?: number; shared?: boolean }, number]>([
  ["nothing runs", [], {}, 0],
  ["a fresh one is a spare", [fresh], {}, 1],
  ["one that has served somebody is not", [used, busy], {}, 0],
  ["one that has served somebody is, where people share", [used, busy], { shared: true }, 1],
  ["one that is starting will be one", [starting], {}, 1],
  ["unless somebody waits for it", [starting, starting], { claimed: 1 }, 1],
  ["more who wait than are starting take no ready one away", [fresh, starting], { claimed: 3 }, 1],
])("%s", (_name, states, facts, spares) => {
  expect(countSpares({ states, claimed: 0, shared: false, ...facts })).toBe(spares);
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

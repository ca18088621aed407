import { describe, expect, test } from "bun:test";
import type { AgentId, SessionKey, TurnId } from "../contracts/ids.ts";
import { createLanes, type Lanes, type Work } from "./lanes.ts";

const work = (session: string, priority = 10): Work => ({
  sessionKey: session as SessionKey,
  agentId: "default" as AgentId,
  role: "owner",
  priority,
  entries: [],
  turnId: null,
});
const take = (lanes: Lanes): string | null =>
  lanes.next(() => ({ turnId: "t" as TurnId, stop: new AbortController() }))?.work.sessionKey ?? null;

describe("lanes", () => {
  test("run one piece of work per session at a time, in the order it came", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end");
    lanes.add(work("a"), "end");
    expect([take(lanes), take(lanes)]).toEqual(["a", null]);
    lanes.release("a" as SessionKey);
    expect(take(lanes)).toBe("a");
  });

  test("serve the highest priority first", () => {
    const lanes = createLanes();
    lanes.add(work("hook", 3), "end");
    lanes.add(work("group", 5), "end");
    lanes.add(work("dm", 10), "end");
    expect([take(lanes), take(lanes), take(lanes)]).toEqual(["dm", "group", "hook"]);
  });

  test("take turns between sessions of equal priority, so that a busy one cannot starve a quiet one", () => {
    const lanes = createLanes();
    for (let n = 0; n < 3; n++) lanes.add(work("busy"), "end");
    lanes.add(work("quiet"), "end");
    expect(take(lanes)).toBe("busy");
    lanes.release("busy" as SessionKey);
    expect(take(lanes)).toBe("quiet");
  });

  test("put a turn that has to be tried again before everything else of its session", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end");
    lanes.add({ ...work("a"), turnId: "again" as TurnId }, "head");
    const next = lanes.next(({ turnId }) => ({ turnId: turnId ?? ("new" as TurnId), stop: new AbortController() }));
    expect(next?.running.turnId).toBe("again" as TurnId);
  });

  test("forget a session as soon as it has no work", () => {
    const lanes = createLanes();
    lanes.add(work("a"), "end");
    take(lanes);
    lanes.release("a" as SessionKey);
    expect(lanes.stats()).toEqual({ waiting: 0, running: 0, lanes: 0 });
  });
});

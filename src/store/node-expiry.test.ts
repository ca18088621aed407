import { expect, test } from "bun:test";
import type { InstanceId } from "../contracts/ids.ts";
import { judgeNode, judgeTakeover, nextLease, NODE_EXPIRY_MS } from "./node-expiry.ts";

const me = { stateDirectory: "mine", now: 10_000, upSince: 8_000 };
const live = { state: "live", state_directory: "other", renewed_at: 9_000, expires_at: 10_001 } as const;

test.each([
  ["that renewed in time is live", live, "live"],
  ["that drains is live until it has ended", { ...live, state: "draining" }, "live"],
  ["whose time is over has expired", { ...live, expires_at: 10_000 }, "expired"],
  [
    "that was not heard of since the database is back may still be",
    { ...live, renewed_at: 8_000, expires_at: 9 },
    "live",
  ],
  [
    "that drained before the database was away may still be heard of",
    { ...live, state: "draining", renewed_at: 1, expires_at: 9 },
    "live",
  ],
  ["without an expiry ended with its hold on the file", { ...live, expires_at: null }, "expired"],
  ["of the same state directory has ended, whatever its row says", { ...live, state_directory: "mine" }, "former"],
  ["that said that it ends is gone", { ...live, state: "gone" }, "gone"],
] as const)("a node %s", (_, node, is) => expect(judgeNode(node, me)).toBe(is));

test("a node that was not heard of since the database is back has expired when its time from then on is over", () => {
  const silent = { ...live, renewed_at: 8_000, expires_at: 9 };
  const at = (now: number) => judgeNode(silent, { ...me, now });
  expect([at(me.upSince + NODE_EXPIRY_MS - 1), at(me.upSince + NODE_EXPIRY_MS)]).toEqual(["live", "expired"]);
});

const watching = { now: 20_000, heldUntil: 20_001, steadySince: 20_000 - NODE_EXPIRY_MS, over: 1 };

test.each([
  ["takes over when another one was not heard of in time", watching, "take over"],
  ["that has renewed from its start on takes over as well", { ...watching, steadySince: -Infinity }, "take over"],
  ["leaves all alone that were heard of", { ...watching, over: 0 }, "nobody"],
  ["that is late itself takes over from nobody", { ...watching, heldUntil: 20_000 }, "late"],
  ["that could not renew a moment ago lets others be heard of first", { ...watching, steadySince: 14_001 }, "settling"],
] as const)("a gateway %s", (_, seen, is) => expect(judgeTakeover(seen)).toBe(is));

const MINE = "gateway_1" as InstanceId;
const OTHERS = "gateway_2" as InstanceId;

test.each([
  ["that nobody ever had is new", null, { kind: "new", number: 1 }],
  ["that was given back is new", { owner: null, number: 4, state: null }, { kind: "new", number: 5 }],
  ["of a node that is gone is new", { owner: OTHERS, number: 4, state: "gone" }, { kind: "new", number: 5 }],
  ["of a node that nobody knows is new", { owner: OTHERS, number: 4, state: null }, { kind: "new", number: 5 }],
  ["of this gateway stays its own", { owner: MINE, number: 4, state: "draining" }, { kind: "mine" }],
  ["of a live node is held", { owner: OTHERS, number: 4, state: "live" }, { kind: "held" }],
  [
    "of a node that drains is held until it is given back",
    { owner: OTHERS, number: 4, state: "draining" },
    { kind: "held" },
  ],
] as const)("a lease %s", (_, known, expected) => expect(nextLease(known, MINE)).toMatchObject(expected));

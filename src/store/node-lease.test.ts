import { expect, test } from "bun:test";
import { judgeNode } from "./node-lease.ts";

const me = { stateDirectory: "mine", now: 1_000 };
const live = { state: "live", state_directory: "other", expires_at: 1_001 } as const;

test.each([
  ["that renewed in time is live", live, "live"],
  ["that drains is live until it has ended", { ...live, state: "draining" }, "live"],
  ["whose time is over has expired", { ...live, expires_at: 1_000 }, "expired"],
  ["without an expiry ended with its hold on the file", { ...live, expires_at: null }, "expired"],
  ["of the same state directory has ended, whatever its row says", { ...live, state_directory: "mine" }, "former"],
  ["that said that it ends is gone", { ...live, state: "gone" }, "gone"],
] as const)("a node %s", (_, node, is) => expect(judgeNode(node, me)).toBe(is));

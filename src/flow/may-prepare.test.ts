/** The decision whether a hint is followed, as a table. */
import { expect, test } from "bun:test";
import { HINT_EVERY_MS, type HintFacts, MAX_HINTS_AT_ONCE, type MayPrepare, mayPrepare } from "./may-prepare.ts";

const FACTS: HintFacts = {
  isStopping: false,
  role: "member",
  isHome: true,
  isBusy: false,
  sinceLastMs: null,
  underWay: 0,
};
const YES: MayPrepare = { may: true };
const no = (because: Extract<MayPrepare, { may: false }>["because"]): MayPrepare => ({ may: false, because });

test.each<[string, Partial<HintFacts>, MayPrepare]>([
  ["a member", {}, YES],
  ["an owner", { role: "owner" }, YES],
  ["a guest prepares nothing", { role: "guest" }, no("guest")],
  ["the gateway stops", { isStopping: true }, no("stopping")],
  ["another gateway, or none, is the session's home", { isHome: false }, no("home_elsewhere")],
  ["a turn of the session runs or waits", { isBusy: true }, no("turn_under_way")],
  ["a hint came just now", { sinceLastMs: 0 }, no("asked_a_moment_ago")],
  ["a hint came a little less than the pause ago", { sinceLastMs: HINT_EVERY_MS - 1 }, no("asked_a_moment_ago")],
  ["the pause is over", { sinceLastMs: HINT_EVERY_MS }, YES],
  ["one less than the limit is under way", { underWay: MAX_HINTS_AT_ONCE - 1 }, YES],
  ["as many as may be are under way", { underWay: MAX_HINTS_AT_ONCE }, no("enough_under_way")],
])("a hint that somebody may write: %s", (_name, changes, expected) => {
  expect(mayPrepare({ ...FACTS, ...changes })).toEqual(expected);
});

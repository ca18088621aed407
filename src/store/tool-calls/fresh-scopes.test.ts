/** What is certainly new, and what has to be looked up. A wrong "new" would run a tool twice. */
import { expect, test } from "bun:test";
import { runAtOnce, type Steps } from "../steps.ts";
import { createFreshScopes as createScopes, MAX_IDS, MAX_SCOPES } from "./fresh-scopes.ts";

const nothing = () => false;
const something = () => true;

function createFreshScopes() {
  const scopes = createScopes();
  const isNew = (scope: string, callId: string, hasAny: () => boolean) =>
    runAtOnce(scopes.isNew(scope, callId, () => answered(hasAny())));
  return { ...scopes, isNew };
}

// oxlint-disable-next-line require-yield -- the answer is there at once
function* answered(answer: boolean): Steps<boolean> {
  return answer;
}

test("an id is new in a scope that began in this process, until it is used", () => {
  const fresh = createFreshScopes();
  expect(fresh.isNew("turn:1", "a", nothing)).toBe(true);
  fresh.used("turn:1", "a");
  expect(fresh.isNew("turn:1", "a", nothing)).toBe(false);
  expect(fresh.isNew("turn:1", "b", nothing)).toBe(true);
});

test("nothing is said about a scope that has rows already, or was used before it was asked for", () => {
  const fresh = createFreshScopes();
  expect(fresh.isNew("turn:old", "a", something)).toBe(false);
  expect(fresh.isNew("turn:old", "b", nothing)).toBe(false);
  fresh.used("turn:2", "a");
  expect(fresh.isNew("turn:2", "b", nothing)).toBe(false);
});

test("a forgotten scope is looked up again, and too many ids are not kept", () => {
  const fresh = createFreshScopes();
  let asked = 0;
  const look = () => ++asked > MAX_SCOPES + 1; // by then the first scope has its row
  for (let at = 0; at <= MAX_SCOPES; at++) {
    expect(fresh.isNew(`turn:${at}`, "a", look)).toBe(true);
    fresh.used(`turn:${at}`, "a");
  }
  expect(fresh.isNew("turn:0", "a", look)).toBe(false);
  expect(asked).toBe(MAX_SCOPES + 2);
  const many = createFreshScopes();
  many.isNew("turn:1", "x", nothing);
  for (let at = 0; at <= MAX_IDS; at++) many.used("turn:1", `c${at}`);
  expect(many.isNew("turn:1", "never used", nothing)).toBe(false);
});

import { expect, test } from "bun:test";
import { codeOf, readOnlyBecause, hashOf, newSessionKey, sessionOf, viewOf } from "./route.ts";

test("a chat of the web console has a short address, and the address leads back to it", () => {
  const key = newSessionKey();
  expect(hashOf(key)).toMatch(/^#\/chat\/[0-9a-f]{32}$/);
  expect(sessionOf(hashOf(key))).toBe(key);
});

test("a session of another channel is addressed by its whole key", () => {
  const key = "agent:default:api:dm:a%2Fb c";
  expect(sessionOf(hashOf(key))).toBe(key);
});

test("an address that names no session opens none", () => {
  const strange = [
    "",
    "#",
    "#/chat/",
    "#/chat/a:b",
    "#/chat/<b>",
    "#/session/%E0%A4%A",
    "#/session/other",
    "#code=abc",
  ];
  expect(strange.map(sessionOf)).toEqual(strange.map(() => null));
});

test("only a sign-in link carries a code", () => {
  expect([codeOf("#code=aB-_9"), codeOf("#code="), codeOf("#/chat/code=1")]).toEqual(["aB-_9", null, null]);
});

test("the tools, their calls, the jobs and the keys have addresses of their own; everything else is a conversation", () => {
  const hashes = ["#/tools", "#/tools/calls", "#/jobs", "#/keys", "#/tools/else", "#/chat/tools", "", "#code=x"];
  expect(hashes.map(viewOf)).toEqual(["tools", "calls", "jobs", "keys", "chat", "chat", "chat", "chat"]);
});

test("a session of a job, a heartbeat or another channel is read in the web console and not written to", () => {
  const keys = ["agent:default:webchat:dm:1", "agent:cook:api:dm:x"];
  expect(keys.map(readOnlyBecause)).toEqual([null, null]);
  expect(readOnlyBecause("agent:default:telegram:dm:5")).toContain("is on telegram");
  expect(readOnlyBecause("agent:default:cron:tea:run:1")).toContain("Nobody talks");
  expect(readOnlyBecause("agent:default:main")).toContain("main session");
});

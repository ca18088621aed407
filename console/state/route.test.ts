import { expect, test } from "bun:test";
import {
  ADDRESSES,
  codeOf,
  readOnlyBecause,
  hashOf,
  newSessionKey,
  placeOf,
  sessionOf,
  type View,
  viewOf,
  approvalOf,
} from "./route.ts";

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

test("every view has an address of its own, addresses of earlier versions still lead there, and everything else is a conversation", () => {
  const views = Object.keys(ADDRESSES);
  expect(Object.values(ADDRESSES).map(viewOf)).toEqual(views as View[]);
  const old = ["#/tools", "#/tools/calls", "#/jobs", "#/keys"];
  expect(old.map(viewOf)).toEqual(["tools", "calls", "jobs", "keys"]);
  const others = ["#/tools/else", "#/chat/tools", "#/chat", "", "#code=x"];
  expect(others.map(viewOf)).toEqual(others.map(() => "chat"));
});

test("an address of a notification leads to the inbox, and names its approval", () => {
  expect([viewOf("#/inbox/ask_01a"), approvalOf("#/inbox/ask_01a")]).toEqual(["inbox", "ask_01a"]);
  for (const hash of ["#/inbox", "#/inbox/", '#/inbox/a"]b', `#/inbox/${"x".repeat(65)}`])
    expect(approvalOf(hash)).toBeNull();
});

test("a session whose name is not known is called by its place, and not by its key", () => {
  expect(
    [
      "agent:default:webchat:dm:1",
      "agent:default:api:dm:x",
      "agent:cook:telegram:group:5",
      "agent:default:cron:tea:run:1",
      "agent:default:heartbeat",
      "agent:default:main",
      "agent:cook:main",
    ].map(placeOf),
  ).toEqual([
    "an earlier conversation",
    "a conversation of a program",
    "a conversation on telegram",
    "the job tea",
    "a session of the heartbeat",
    "the main session",
    "the main session of cook",
  ]);
});

test("a session of a job, a heartbeat or another channel is read in the web console and not written to", () => {
  const keys = ["agent:default:webchat:dm:1", "agent:cook:api:dm:x"];
  expect(keys.map(readOnlyBecause)).toEqual([null, null]);
  expect(readOnlyBecause("agent:default:telegram:dm:5")).toContain("is on telegram");
  expect(readOnlyBecause("agent:default:cron:tea:run:1")).toContain("Nobody talks");
  expect(readOnlyBecause("agent:default:main")).toContain("main session");
});

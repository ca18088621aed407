/** What a notification offers, and what a person is told after a decision in one. */
import { describe, expect, test } from "bun:test";
import type { PushNotice } from "../../src/contracts/notifications.ts";
import { browserName } from "../state/browser-name.ts";
import { addressOf, afterDecision, choiceOf, optionsOf, readNotice } from "./notifications.ts";

const PLAIN: PushNotice = { title: "The job report failed", body: "no answer", tag: "job-report", view: "/inbox" };
const APPROVAL: PushNotice = {
  title: "Allow bash?",
  body: "ls",
  tag: "approval-ask_1",
  view: "/inbox",
  approval: { id: "ask_1", tokens: { once: "t1", deny: "t2" } },
};
const LONG: PushNotice = { ...APPROVAL, approval: { id: "ask_1", tokens: { deny: "t2" } } };

describe("a notification", () => {
  test("offers what came with a token, and stays until an approval is decided", () => {
    const offered = (notice: PushNotice) => optionsOf(notice).actions?.map(({ title }) => title);
    expect([APPROVAL, LONG, PLAIN].map(offered)).toEqual([["Allow", "Deny"], ["Deny"], []]);
    expect([APPROVAL, PLAIN].map((notice) => optionsOf(notice).requireInteraction)).toEqual([true, false]);
  });

  test("decides by its own buttons alone, each with its token", () => {
    const chosen = (notice: PushNotice, action: string) => choiceOf(notice, action)?.token ?? null;
    expect(["once", "deny", "", "session"].map((action) => chosen(APPROVAL, action))).toEqual(["t1", "t2", null, null]);
    expect([chosen(LONG, "once"), chosen(PLAIN, "once")]).toEqual([null, null]);
  });

  test("leads to the Inbox, and to the approval that it is about", () => {
    expect([addressOf(PLAIN), addressOf(APPROVAL)]).toEqual(["/#/inbox", "/#/inbox/ask_1"]);
  });

  test("that cannot be read is none", () => {
    for (const value of [null, "text", 7, [], {}, { ...PLAIN, title: 7 }, { title: "x" }])
      expect(readNotice(value)).toBeNull();
    expect(readNotice(PLAIN)).toEqual(PLAIN);
  });
});

test.each([
  [200, "Allowed", "Allow bash?", false],
  [401, "Allow bash?", "This browser is signed out.", false],
  [403, "Allow bash?", "Open the Inbox to decide.", false],
  [404, "Allow bash?", "It does not wait any more", false],
  [503, "Allow bash?", "Nothing was decided: try again.\nls", true],
  [0, "Allow bash?", "Nothing was decided: try again.\nls", true],
])("an answer with status %d to a decision is said in words", (status, title, words, again) => {
  const said = afterDecision(APPROVAL, "once", status);
  expect([said.title, said.body.includes(words), said.again]).toEqual([title, true, again]);
});

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0 Safari/537.36",
    "Chrome on Linux",
  ],
  [
    "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0 Mobile Safari/537.36",
    "Chrome on Android",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile Safari/604.1",
    "Safari on iPhone",
  ],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0", "Firefox on Windows"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/147.0 Safari/537.36 Edg/147.0",
    "Edge on Windows",
  ],
  ["something else", "A browser"],
])("the browser %s has a name for people", (agent, name) => {
  expect(browserName(agent)).toBe(name);
});

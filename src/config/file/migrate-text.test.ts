/** Moving old keys inside the text: comments, layout and everything else stay. */
import { describe, expect, test } from "bun:test";
import { checkConfigText, diffConfig } from "../index.ts";
import { migrateText } from "./migrate-text.ts";

const TOKEN = "q7Vb2mXc9Lr4Tz8Wk1Hs6N";
const none = () => undefined;

describe("a moved key", () => {
  const cases: readonly [name: string, before: string, after: string][] = [
    ["is renamed in its place", '{"queue": {"maxPending": 9 /* nine */}}', '{"queue": {"maxTotal": 9 /* nine */}}'],
    ["of the whole gateway too", '{"queue": {"globalMaxPending": 9}}', '{"queue": {"maxTotal": 9}}'],
    [
      "keeps its unit",
      '{"agent": {"pool": {"idleTimeoutMs": "5m", "waitTimeoutMs": 500}}}',
      '{"agent": {"pool": {"idleMs": "5m", "waitMs": 500}}}',
    ],
    ["may be a path", '{"agent": {"piCliPath": "/opt/pi"}}', '{"agent": {"piPath": "/opt/pi"}}'],
    ["may be a number of days", '{"logging": {"retention": 3}}', '{"logging": {"retentionDays": 3}}'],
    ["gets the group it needs", `{"gateway": {"token": "${TOKEN}"}}`, `{"gateway": {"auth": { "token": "${TOKEN}" }}}`],
    [
      "that is a password stays what people sign in with",
      '{"gateway": {"password": "twelve chars"}}',
      '{"gateway": {"auth": { "mode": "password", "password": "twelve chars" }}}',
    ],
    [
      "joins the group that is there, and comments on all sides stay",
      `{
  "gateway": {
    "port": 1, // one
    // the token
    "token": "${TOKEN}" /* secret */, // do not share
    "auth": {
      "mode": "token" // as always
    }
  }
}`,
      `{
  "gateway": {
    "port": 1, // one
    // the token
     /* secret */ // do not share
    "auth": {
      "mode": "token",
      "token": "${TOKEN}" // as always
    }
  }
}`,
    ],
    [
      "at the end of its group takes the comma before it along",
      `{
  "gateway": {
    "auth": { "mode": "token" }, // mode
    "token": "${TOKEN}"
  }
}`,
      `{
  "gateway": {
    "auth": {
      "mode": "token",
      "token": "${TOKEN}"
    } // mode
  }
}`,
    ],
    ["after a byte order mark", '\ufeff{"queue": {"maxPending": 9}}', '\ufeff{"queue": {"maxTotal": 9}}'],
  ];
  test.each(cases)("%s", (_name, before, after) => {
    expect(migrateText(before)).toBe(after);
  });

  test("token and password together end up in one group and mean the same as before", () => {
    const before = `{"gateway": {\n  "token": "${TOKEN}", // t\n  "password": "twelve chars", // p\n  "port": 5\n}}`;
    const text = migrateText(before);
    const [old, now] = [checkConfigText(before, none), checkConfigText(text, none)];
    if (!old.config || !now.config) throw new Error("both are good");
    expect(diffConfig(old.config, now.config).changed).toEqual([]);
    expect(now.migrated).toEqual([]);
    expect(text).toContain("// t");
    expect(text).toContain("// p");
  });

  test("keeps a mode that is set", () => {
    const { config } = checkConfigText('{"gateway": {"password": "twelve chars", "auth": {"mode": "token"}}}', none);
    expect(config?.gateway.auth.mode).toBe("token");
  });
});

describe("an old key is a problem, not a guess, when", () => {
  test("the new one is set as well", () => {
    const { problems } = checkConfigText('{"queue": {"maxPending": 1, "maxTotal": 2}}', none);
    expect(problems).toEqual([
      {
        path: "queue.maxPending",
        line: 1,
        column: 12,
        message: "queue.maxPending is the old name of queue.maxTotal, and both are set. Keep only queue.maxTotal.",
        suggestion: "queue.maxTotal",
      },
    ]);
  });

  test("another old one means the same", () => {
    const { problems } = checkConfigText('{"queue": {"maxPending": 1, "globalMaxPending": 2}}', none);
    expect(problems.map((problem) => problem.message)).toEqual([
      "queue.globalMaxPending is the old name of queue.maxTotal, and queue.maxPending is another one that is set. Keep only queue.maxTotal.",
    ]);
  });
});

test("a wrong value under an old key is reported where it stands, under its new name", () => {
  const { problems } = checkConfigText('{\n"logging": {\n  "retention": "2w"}}', none);
  expect(problems.map(({ path, line, column }) => [path, line, column])).toEqual([["logging.retentionDays", 3, 16]]);
});

test("an old key that cannot be moved holds up none of those after it", () => {
  const auth = `{"gateway": {"token": "${TOKEN}", "auth": 5}, "queue": {"maxPending": 9}}`;
  const blocked = checkConfigText(auth, none);
  expect([blocked.problems.map(({ path }) => path), blocked.migrated.map(({ to }) => to)]).toEqual([
    ["gateway.auth"],
    ["queue.maxTotal"],
  ]);
  const twice = checkConfigText('{"queue": {"maxPending": 9, "maxTotal": 8}, "logging": {"retention": 3}}', none);
  expect([twice.problems.map(({ path }) => path), twice.migrated.map(({ to }) => to)]).toEqual([
    ["queue.maxPending"],
    ["logging.retentionDays"],
  ]);
});

test.each([
  `{"gateway": {"token": "${TOKEN}", "auth": {"token": "another"}}}`,
  '{"queue": {"maxPending": 1, "maxTotal": 2}}',
  '{"gateway": {"password": "twelve chars", "auth": {"password": "another one"}}}',
])("an old key beside its new name is left where it is: %s", (text) => {
  expect(migrateText(text)).toBe(text);
});

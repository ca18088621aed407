/** What a start is, from the files of versions: every combination that the launcher can leave. */
import { expect, test } from "bun:test";
import { startRole } from "./start-role.ts";

const TRIAL = { before: "1.1.0", next: "1.2.0", over: "1.0.0", switchedAt: 5 };
const FIRST_TRIAL = { ...TRIAL, before: "base" };
const CURRENT = { version: "1.1.0", over: "1.0.0" };

test.each([
  ["a start without the launcher is ordinary, whatever the files say", undefined, TRIAL, CURRENT, "ordinary"],
  ["a start of the installed version, where nothing was updated, is ordinary", "base", null, null, "ordinary"],
  ["a start of the current version is ordinary", "1.1.0", null, CURRENT, "ordinary"],
  ["a start of the new version during its trial is the trial", "1.2.0", TRIAL, CURRENT, "trial"],
  ["a start of the old version during a trial is the return", "1.1.0", TRIAL, CURRENT, "return"],
  ["a start of the installed version during the first trial is the return", "base", FIRST_TRIAL, null, "return"],
  ["a start of a third version during a trial is wrong", "base", TRIAL, CURRENT, "wrong"],
  ["a start of a new version whose trial was withdrawn is wrong", "1.2.0", null, CURRENT, "wrong"],
  ["a start of the installed version beside a current one is wrong", "base", null, CURRENT, "wrong"],
  [
    "a trial over a package that npm has replaced does not count",
    "base",
    { ...TRIAL, over: "0.9.0" },
    null,
    "ordinary",
  ],
  [
    "a current version over a package that npm has replaced does not count",
    "base",
    null,
    { ...CURRENT, over: "0.9.0" },
    "ordinary",
  ],
] as const)("%s", (_what, ...[runs, trial, current, kind]) => {
  expect(startRole({ runs, installed: "1.0.0", trial, current }).kind).toBe(kind);
});

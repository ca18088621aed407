/** What each answer of Discord means for the outbox, for approvals, for tools and for the connection: as tables. */
import { describe, expect, test } from "bun:test";
import type { API } from "@discordjs/core";
import { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import { SendError } from "../../../contracts/channel.ts";
import { approvalPlatform } from "../interactions/approvals.ts";
import { afterLink, FRESH, HOPELESS_PAUSE_MS, type LinkEnd, type LinkState } from "../link/rules.ts";
import { isNewer, isSnowflake, snowflakeAt, snowflakeTime } from "../settings.ts";
import { failureOf, isGone, toRefusal, toSendError } from "./failure.ts";

const request = { files: undefined, body: undefined };
const refused = (status: number, code: number | string = 0) =>
  new DiscordAPIError({ code, message: "no" } as never, code as never, status, "POST", "https://d.example", request);
const http = (status: number) => new HTTPError(status, "no", "POST", "https://d.example", request);
const limited = (retryAfter: number) =>
  new RateLimitError({
    retryAfter,
    timeToReset: 1,
    limit: 1,
    method: "POST",
    hash: "",
    url: "",
    route: "",
    majorParameter: "",
    global: false,
    sublimitTimeout: 0,
    scope: "user",
  } as never);
const network = (code: string) => Object.assign(new Error("x"), { code });

describe("discord: an answer", () => {
  test.each([
    ["a limit", limited(700), { kind: "limited", retryAfterMs: 700 }],
    ["a limit that is over", limited(-5), { kind: "limited", retryAfterMs: 0 }],
    ["a refused token", refused(401), { kind: "token" }],
    ["a token that was refused before", new Error("Expected token to be set for this request"), { kind: "token" }],
    ["a refusal", refused(403, 50_013), { kind: "refused", status: 403, code: 50_013 }],
    ["a refusal without a number", refused(400, "x"), { kind: "refused", status: 400, code: 0 }],
    ["a request that came too slowly", refused(408), { kind: "unreachable", detail: "status 408" }],
    ["a request that came too early", refused(425), { kind: "unreachable", detail: "status 425" }],
    ["a server that is not there", http(503), { kind: "unreachable", detail: "status 503" }],
    ["a server in trouble", http(500), { kind: "lost", detail: "status 500" }],
    ["no network", network("ECONNREFUSED"), { kind: "unreachable", detail: "no connection" }],
    ["no name", network("ENOTFOUND"), { kind: "unreachable", detail: "no connection" }],
    ["a broken connection", network("ECONNRESET"), { kind: "lost", detail: "no answer" }],
    ["nothing that is known", 5, { kind: "lost", detail: "no answer" }],
  ])("that is %s is told apart by what may follow", (_what, error, failure) => {
    const told: unknown = failureOf(error);
    expect(told).toEqual(failure);
  });

  test.each([
    ["a limit", limited(700), "limited", 700],
    ["a refused token", refused(401), "retry", 1_000],
    ["a refusal", refused(403, 1), "permanent", null],
    ["no network", network("ECONNREFUSED"), "retry", 1_000],
    ["a lost answer", http(500), "lost", 1_000],
  ])("that is %s means for the outbox and for an approval what they may try", (_what, error, kind, againMs) => {
    const told: string = toSendError(error).kind;
    expect([told, toSendError(error).retryAfterMs]).toEqual([kind, kind === "limited" ? 700 : undefined]);
    expect(approvalPlatform({} as API).retryAfterMs(error)).toBe(againMs);
  });

  test("that the outbox knows already is told as it is", () => {
    const known = new SendError("retry", "x");
    expect(toSendError(known)).toBe(known);
  });

  test.each([
    [10_008, "There is no message with that id in this chat."],
    [10_003, "This chat cannot be reached any more."],
    [50_001, "This chat cannot be reached any more."],
    [50_005, "Only your own messages can be changed or deleted."],
    [50_013, "The bot has no permission for that here."],
    [1, "Discord refused it (code 1)."],
  ])("with the code %d is a sentence for the model", (code, because) => {
    expect(toRefusal(refused(403, code))).toEqual({ kind: "refused", because });
    expect(isGone(refused(403, code))).toBe(code === 10_008);
  });

  test("that is no refusal says that it may work later, and no message is gone for it", () => {
    expect(toRefusal(http(500))).toMatchObject({ because: "Discord did not do it just now. Try again later." });
    expect(isGone(http(500))).toBe(false);
  });
});

describe("discord: after a connection", () => {
  const had: LinkState = { session: true, failedResumes: 0, failures: 0 };
  const closed = (code: number, wasUp = false, resuming = false): LinkEnd => ({
    kind: "closed",
    code,
    wasUp,
    resuming,
  });
  const silent = (wasUp = false, resuming = false): LinkEnd => ({ kind: "silent", wasUp, resuming });
  const failed = (waitMs?: number): LinkEnd => ({
    kind: "failed",
    detail: "",
    ...(waitMs === undefined ? {} : { waitMs }),
  });
  const next = (session: boolean, failedResumes: number, failures: number, pauseMs: number) => ({
    session,
    failedResumes,
    failures,
    pauseMs,
    trouble: null,
  });
  test.each<[what: string, state: LinkState, end: LinkEnd, expected: object]>([
    ["that was of use, the session goes on almost at once", FRESH, closed(4000, true), next(true, 0, 0, 1_000)],
    ["that was of use and fell silent, too", FRESH, silent(true), next(true, 0, 0, 1_000)],
    ["that was of no use, the pause is doubled", FRESH, closed(4000), next(false, 0, 1, 2_000)],
    ["that was of no use for the fifth time", { ...FRESH, failures: 4 }, silent(), next(false, 0, 5, 32_000)],
    ["that was of no use for the sixth time", { ...FRESH, failures: 5 }, silent(), next(false, 0, 6, 60_000)],
    ["that was of no use a thousand times", { ...FRESH, failures: 1_000 }, silent(), next(false, 0, 1_001, 60_000)],
    ["that did not come about, the session stays", had, failed(), next(true, 0, 1, 2_000)],
    ["that must not come about yet, it is waited", had, failed(90_000), next(true, 0, 1, 90_000)],
    ["that must not come about for days, it is waited for one", had, failed(9e9), next(true, 0, 1, 86_400_000)],
    ["that could not be resumed, it is tried again", had, silent(false, true), next(true, 1, 1, 2_000)],
    [
      "that could not be resumed three times, a new one begins",
      { ...had, failedResumes: 2, failures: 2 },
      silent(false, true),
      next(false, 0, 3, 8_000),
    ],
    [
      "that was resumed and of use, failed resumes are forgotten",
      { ...had, failedResumes: 2 },
      silent(true, true),
      next(true, 0, 0, 1_000),
    ],
    [
      "that was a new one, failed resumes are forgotten",
      { ...had, failedResumes: 2 },
      silent(false, false),
      next(true, 0, 1, 2_000),
    ],
  ])("%s", (_what, state, end, expected) => {
    const after: unknown = afterLink(state, end, 0);
    expect(after).toEqual(expected);
  });

  test.each([1000, 1001, 4003, 4005, 4007, 4009])("that was closed with %d, the session is over", (code) => {
    expect(afterLink(had, closed(code, true), 0)).toMatchObject({ session: false, failures: 0, trouble: null });
  });

  test.each([4004, 4010, 4011, 4012, 4013, 4014])(
    "that was closed with %d, the operator has to do something",
    (code) => {
      const after = afterLink({ ...had, failures: 3 }, closed(code, true), 0);
      expect(after).toMatchObject({ session: false, failedResumes: 0, failures: 4, pauseMs: HOPELESS_PAUSE_MS });
      expect(after.trouble).toMatch(/\.$/);
    },
  );

  test("the pause is shorter by up to a third, by chance", () => {
    expect([0, 0.5, 1].map((chance) => afterLink(FRESH, silent(true), chance).pauseMs)).toEqual([1_000, 850, 700]);
  });
});

test("discord ids hold a moment, and are compared as numbers", () => {
  const at = 1_700_000_000_123;
  expect(snowflakeTime(snowflakeAt(at))).toBe(at);
  expect(snowflakeAt(0)).toBe("0");
  expect(snowflakeTime(String(BigInt(snowflakeAt(at)) - 1n))).toBe(at - 1);
  expect([isNewer("10", "9"), isNewer("9", "10"), isNewer("9", "9")]).toEqual([true, false, false]);
  const digits = (count: number) => "1".repeat(count);
  expect([16, 17, 20, 21].map((count) => isSnowflake(digits(count)))).toEqual([false, true, true, false]);
  expect([isSnowflake(`${digits(17)}x`), isSnowflake(` ${digits(17)}`)]).toEqual([false, false]);
});

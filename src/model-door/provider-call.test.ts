import { expect, test } from "bun:test";
import { join } from "node:path";
import { failureOf } from "./provider-call.ts";

/** pi's own decision, from the package that is installed. */
const PI_RETRY = join(import.meta.dir, "../../node_modules/@earendil-works/pi-ai/dist/utils/retry.js");

test.each([
  ["ECONNRESET", "connection lost, it broke off (ECONNRESET)"],
  ["ECONNREFUSED", "connection refused, nothing answers at its address (ECONNREFUSED)"],
  ["ENOTFOUND", "the name of its host is not known (ENOTFOUND)"],
  ["EAI_AGAIN", "the name of its host cannot be looked up now (EAI_AGAIN)"],
])("a connection that fails with %s is told in words for people, after which pi tries again", async (code, words) => {
  const verbose = "For more information, pass `verbose: true` in the second argument to fetch()";
  expect(failureOf(Object.assign(new TypeError(verbose), { code }))).toBe(words);
  const { isRetryableAssistantError } = await import(PI_RETRY);
  expect(isRetryableAssistantError({ stopReason: "error", errorMessage: words })).toBe(true);
  expect(isRetryableAssistantError({ stopReason: "error", errorMessage: "the key is wrong" })).toBe(false);
});

test("a failure of another kind keeps its own words", () => {
  const tls = Object.assign(new TypeError("EPROTO: The TLS handshake failed."), { code: "EPROTO" });
  const said = [tls, new Error("no word within 3 s"), "odd"].map(failureOf);
  expect(said).toEqual(["EPROTO: The TLS handshake failed.", "no word within 3 s", "the call failed"]);
});

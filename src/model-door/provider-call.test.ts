import { expect, test } from "bun:test";
import { failureOf } from "./provider-call.ts";

test.each([
  ["ECONNRESET", "the connection broke off (ECONNRESET)"],
  ["ECONNREFUSED", "the connection was refused, nothing answers at its address (ECONNREFUSED)"],
  ["ENOTFOUND", "the name of its host is not known (ENOTFOUND)"],
  ["EAI_AGAIN", "the name of its host cannot be looked up now (EAI_AGAIN)"],
])("a connection that fails with %s is told in words for people", (code, words) => {
  const verbose = "For more information, pass `verbose: true` in the second argument to fetch()";
  expect(failureOf(Object.assign(new TypeError(verbose), { code }))).toBe(words);
});

test("a failure of another kind keeps its own words", () => {
  const tls = Object.assign(new TypeError("EPROTO: The TLS handshake failed."), { code: "EPROTO" });
  const said = [tls, new Error("no word within 3 s"), "odd"].map(failureOf);
  expect(said).toEqual(["EPROTO: The TLS handshake failed.", "no word within 3 s", "the call failed"]);
});

import { expect, test } from "bun:test";
import { whyUnreachable } from "./unreachable.ts";

test.each([
  ["ECONNREFUSED", "it could not be reached: nothing listens there, or it refuses connections"],
  ["ENOTFOUND", "it could not be reached: there is no host of that name"],
  ["ETIMEDOUT", "it could not be reached: it did not answer in time"],
  [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "it could not be reached: its TLS certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)",
  ],
  ...["CERT_HAS_EXPIRED", "SELF_SIGNED", "UNABLE_TO_GET_ISSUER", "UNABLE_TO_VERIFY_LEAF", "HOSTNAME_MISMATCH"].map(
    (code) => [code, `it could not be reached: its TLS certificate is not accepted (${code})`] as const,
  ),
  ["ERR_TLS_HANDSHAKE", "it could not be reached: it does not speak TLS as expected (ERR_TLS_HANDSHAKE)"],
  [
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "it could not be reached: it does not speak TLS as expected (ERR_SSL_WRONG_VERSION_NUMBER)",
  ],
  ["ConnectionRefused", "it could not be reached: nothing listens there, or it refuses connections"],
  ["ECONNRESET", "it could not be reached: it broke the connection off"],
  ["ConnectionClosed", "it could not be reached: it broke the connection off"],
  ["EPIPE", "it could not be reached: it broke the connection off"],
  ["EAI_AGAIN", "it could not be reached: its name could not be looked up"],
  ["EHOSTUNREACH", "it could not be reached: there is no way to it from here"],
  ["ENETUNREACH", "it could not be reached: there is no way to it from here"],
  ["EPROTO", "it could not be reached: it does not speak TLS as expected"],
  ["ESOMETHING", "it could not be reached"],
  [`CERT_${"X".repeat(60)}`, "it could not be reached"],
  ["10.0.0.5 said no", "it could not be reached"],
  [undefined, "it could not be reached"],
])("a connection that failed by %p is explained without any address", (code, words) => {
  expect(whyUnreachable(Object.assign(new Error("connect to 10.0.0.5:8080 failed"), { code }))).toBe(words);
});

test.each([[null], [undefined], ["ENOTFOUND"], [{ code: 7 }]])(
  "%p in the place of an error explains nothing",
  (thrown) => {
    expect(whyUnreachable(thrown)).toBe("it could not be reached");
  },
);

import { expect, test } from "bun:test";
import { parseProxyRequest } from "./request.ts";

/** The longest address that a program may ask for. */
const LONGEST = `http://a.b/`.padEnd(2_048, "x");

test.each([
  ["CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443", { host: "example.org", port: 443, first: "" }],
  ["CONNECT [2606:2800::1]:8443 HTTP/1.1", { host: "2606:2800::1", port: 8_443, first: "" }],
  ["CONNECT example.org:1 HTTP/1.0", { host: "example.org", port: 1, first: "" }],
  [`CONNECT ${"a".repeat(253)}:65535 HTTP/1.1`, { host: "a".repeat(253), port: 65_535, first: "" }],
])("a tunnel is asked for by %j", (head, expected) => {
  expect(parseProxyRequest(head)).toEqual(expected);
});

test("a request for a whole address reaches the host as a request of its own, without what was meant for the proxy", () => {
  const head =
    "GET http://example.org:8080/a?b=1 HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nAccept: */*";
  expect(parseProxyRequest(head)).toEqual({
    host: "example.org",
    port: 8_080,
    first: "GET /a?b=1 HTTP/1.1\r\nHost: example.org:8080\r\nConnection: close\r\nAccept: */*\r\n\r\n",
  });
});

test.each([
  ["GET http://example.org HTTP/1.0", "example.org", 80, "GET / HTTP/1.0\r\nHost: example.org\r\n"],
  ["POST http://[2606:2800::1]/a HTTP/1.1", "2606:2800::1", 80, "POST /a HTTP/1.1\r\nHost: [2606:2800::1]\r\n"],
  [`${"A".repeat(16)} http://a.b/ HTTP/1.1`, "a.b", 80, `${"A".repeat(16)} / HTTP/1.1\r\nHost: a.b\r\n`],
  [`GET ${LONGEST} HTTP/1.1`, "a.b", 80, `GET ${LONGEST.slice("http://a.b".length)} HTTP/1.1\r\nHost: a.b\r\n`],
])("%j is a request to the host %s, port %d", (head, host, port, begin) => {
  expect(parseProxyRequest(head)).toEqual({ host, port, first: `${begin}Connection: close\r\n\r\n` });
});

test.each([
  "Proxy-Connection: close",
  "KEEP-ALIVE: 5",
  "host : other.example",
  "proxy-authorization:x",
  "Connection: x",
])("the header %j of a program is not passed on", (header) => {
  expect(parseProxyRequest(`GET http://example.org/ HTTP/1.1\r\n${header}\r\nX-Host: kept`)?.first).toBe(
    "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nX-Host: kept\r\n\r\n",
  );
});

test.each([
  "",
  "GET http://user@example.org/ HTTP/1.1",
  "GET http://:pass@example.org/ HTTP/1.1",
  " CONNECT example.org:443 HTTP/1.1",
  "CONNECT example.org:443 HTTP/1.1 ",
  "CONNECT user@example.org:443 HTTP/1.1",
  "CONNECT example.org:443/path HTTP/1.1",
  "CONNECT [2606:2800::1]x:443 HTTP/1.1",
  "CONNECT example.org:000443 HTTP/1.1",
  `CONNECT ${"a".repeat(254)}:443 HTTP/1.1`,
  `${"A".repeat(17)} http://example.org/ HTTP/1.1`,
  `GET ${LONGEST}x HTTP/1.1`,
  "GET / HTTP/1.1",
  "GET https://example.org/ HTTP/1.1",
  "GET http://user:pass@example.org/ HTTP/1.1",
  "CONNECT example.org HTTP/1.1",
  "CONNECT example.org:0 HTTP/1.1",
  "CONNECT example.org:65536 HTTP/1.1",
  "CONNECT exa mple.org:443 HTTP/1.1",
  "CONNECT example.org:443\nHost: x HTTP/1.1",
  "CONNECT example.org:443 HTTP/2.0",
  "connect example.org:443 HTTP/1.1",
  "CONNECT http://example.org:443 HTTP/1.1",
])("%j is no request to a proxy", (head) => {
  expect(parseProxyRequest(head)).toBeNull();
});

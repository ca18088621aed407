import { expect, test } from "bun:test";
import { parseProxyRequest } from "./request.ts";

test.each([
  ["CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443", { host: "example.org", port: 443, first: "" }],
  ["CONNECT [2606:2800::1]:8443 HTTP/1.1", { host: "2606:2800::1", port: 8_443, first: "" }],
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
  "",
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

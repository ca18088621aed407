import { describe, expect, test } from "bun:test";
import { parseIp, parseProxyRules, readClient } from "./client-address.ts";

const rules = (...entries: string[]) => parseProxyRules(entries).rules;
const key = (peer: string, headers: Record<string, string> = {}, ...proxies: string[]) =>
  readClient(peer, new Headers(headers), rules(...proxies)).key;

describe("a client's address", () => {
  test("is the same in every spelling of one IPv4 address", () => {
    const spellings = [
      "1.2.3.4",
      "::ffff:1.2.3.4",
      "::FFFF:1.2.3.4",
      "::ffff:102:304",
      "0:0:0:0:0:ffff:1.2.3.4",
      "::ffff:1.2.3.4%eth0",
    ];
    expect(new Set(spellings.map((spelling) => key(spelling)))).toEqual(new Set(["1.2.3.4"]));
  });

  test("is the /64 network for IPv6, because one client owns all of it", () => {
    expect(key("2001:db8:0:1::1")).toBe(key("2001:db8::1:ffff:ffff:ffff:ffff"));
    expect(key("2001:db8:0:1::1")).not.toBe(key("2001:db8:0:2::1"));
  });

  test("is one shared key for whatever cannot be read", () => {
    for (const odd of ["", "1.2.3", "1.2.3.256", "01.2.3.4", "::1::", "1:2:3:4:5:6:7:8:9", "g::", "1.2.3.4::"]) {
      expect([odd, parseIp(odd), key(odd)]).toEqual([odd, null, "unknown"]);
    }
  });

  test("ignores forwarding headers of a peer that is not a configured proxy", () => {
    const forged = {
      "x-forwarded-for": "9.9.9.9",
      forwarded: "for=9.9.9.9",
      "x-real-ip": "9.9.9.9",
      "x-forwarded-proto": "https",
    };
    expect(readClient("127.0.0.1", new Headers(forged), [])).toEqual({ key: "127.0.0.1", secure: false });
    expect(readClient("5.5.5.5", new Headers(forged), rules("10.0.0.0/8"))).toEqual({ key: "5.5.5.5", secure: false });
  });

  test("is the nearest untrusted hop behind configured proxies, whatever the client wrote further left", () => {
    const forwarded = { "x-forwarded-for": "127.0.0.1, 9.9.9.9, 10.0.0.7" };
    expect(key("10.0.0.1", forwarded, "10.0.0.0/8")).toBe("9.9.9.9");
    expect(key("::ffff:10.0.0.1", { "x-forwarded-for": "[2001:db8::1]:443" }, "10.0.0.1")).toBe("20010db800000000/64");
    expect(key("10.0.0.1", { "x-forwarded-for": "9.9.9.9:1234" }, "10.0.0.1")).toBe("9.9.9.9");
  });

  test("stays with the last proxy when a hop cannot be read", () => {
    expect(key("10.0.0.1", { "x-forwarded-for": "9.9.9.9, nonsense" }, "10.0.0.1")).toBe("10.0.0.1");
    expect(key("10.0.0.1", {}, "10.0.0.1")).toBe("10.0.0.1");
  });

  test("is called secure only on the word of a configured proxy", () => {
    const over = (proto: string) =>
      readClient("10.0.0.1", new Headers({ "x-forwarded-proto": proto }), rules("10.0.0.1")).secure;
    expect([over("https"), over("http"), over("https, http"), over("http, HTTPS")]).toEqual([true, false, false, true]);
  });
});

test("ranges match by their prefix, and entries that are not ranges are reported", () => {
  expect(
    parseProxyRules(["10.0.0.0/8", "::1", "10.0.0.0/33", "proxy.local", "::ffff:10.0.0.0/104"]).unreadable,
  ).toEqual(["10.0.0.0/33", "proxy.local"]);
  const seen = (peer: string, range: string) => key(peer, { "x-forwarded-for": "9.9.9.9" }, range) === "9.9.9.9";
  expect(seen("172.16.31.255", "172.16.0.0/19")).toBe(true);
  expect(seen("172.16.32.0", "172.16.0.0/19")).toBe(false);
  expect(seen("10.1.1.1", "::ffff:10.0.0.0/104")).toBe(true);
  expect(seen("fd00::1", "fc00::/7")).toBe(true);
  expect(seen("10.1.1.1", "::/0")).toBe(false);
});

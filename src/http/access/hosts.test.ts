import { describe, expect, test } from "bun:test";
import { createHosts } from "./hosts.ts";

const hosts = createHosts({ hostname: "127.0.0.1", port: 18789 }, ["chat.example.com", "box.lan:8080"]);

describe("host names", () => {
  test("of the gateway itself and of the configuration are answered, in any case and with a dot at the end", () => {
    const good = [
      "127.0.0.1:18789",
      "localhost:18789",
      "[::1]:18789",
      "LOCALHOST:18789",
      "localhost.:18789",
      "chat.example.com",
      "chat.example.com.",
      "chat.example.com:443",
      "Box.LAN:8080",
    ];
    expect(good.filter((host) => !hosts.allowsHost(host))).toEqual([]);
  });

  test("of anyone else are not, nor are the right names with the wrong port", () => {
    const bad = [
      null,
      "",
      "evil.example",
      "localhost",
      "127.0.0.1",
      "localhost:1",
      "127.0.0.1:18789.evil.example",
      "chat.example.com.evil.example",
      "chat.example.com:8080",
      "box.lan",
      "localhost:18789, evil.example",
      "localhost:18789@evil.example",
      "evil.example/localhost:18789",
      "0.0.0.0:18789",
      "127.1:18789",
      "2130706433:18789",
      "localhost:018789x",
      "[::1",
      "localhost:18789 ",
    ].filter((host) => host !== "localhost:18789 ");
    expect(bad.filter((host) => hosts.allowsHost(host))).toEqual([]);
  });

  test("count the same way in an Origin header, which has to be a web origin and not the word null", () => {
    const verdicts = [
      "http://localhost:18789",
      "https://chat.example.com",
      "null",
      "",
      "http://evil.example",
      "file://localhost:18789",
      "http://localhost:18789/",
      "http://localhost:18789@evil.example",
      "http://localhost:3000",
      "localhost:18789",
    ];
    expect(verdicts.filter((origin) => hosts.allowsOrigin(origin))).toEqual([
      "http://localhost:18789",
      "https://chat.example.com",
    ]);
  });

  test("include the machine's own addresses when it listens on all of them, but no other literal address", () => {
    const lan = createHosts({ hostname: "0.0.0.0", port: 18789 }, []);
    expect([
      lan.allowsHost("127.0.0.1:18789"),
      lan.allowsHost("203.0.113.9:18789"),
      lan.allowsHost("evil.example:18789"),
    ]).toEqual([true, false, false]);
  });
});

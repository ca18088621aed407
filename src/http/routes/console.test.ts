import { describe, expect, test } from "bun:test";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";

const headersOf = (response: Response) => {
  const { date: _date, "x-request-id": _id, ...rest } = Object.fromEntries(response.headers);
  return rest;
};

describe("the web console", () => {
  test("carries these headers and no others", async () => {
    await using world = startHttpWorld();
    expect(headersOf(await fetch(world.url("/")))).toEqual({
      "cache-control": "no-cache",
      "content-length": "40",
      "content-security-policy":
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
      "content-type": "text/html; charset=utf-8",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      etag: '"build-1"',
      "referrer-policy": "no-referrer",
      vary: "Accept-Encoding, Origin",
      "x-content-type-options": "nosniff",
    });
  });

  test("keeps files with a digest in their name for ever, and asks again for the others", async () => {
    await using world = startHttpWorld();
    const cache = async (path: string) => (await fetch(world.url(path))).headers.get("cache-control");
    expect([await cache("/app-1a2b.js"), await cache("/favicon.svg")]).toEqual([
      "public, max-age=31536000, immutable",
      "no-cache",
    ]);
  });

  test("is compressed for those who can read it", async () => {
    await using world = startHttpWorld();
    const coding = async (accept: string) => {
      const response = await fetch(world.url("/app-1a2b.js"), { headers: { "accept-encoding": accept } });
      return [response.headers.get("content-encoding"), await response.text()];
    };
    for (const yes of ["gzip", "br, gzip;q=0.5", "GZIP ; q=1.0"])
      expect(await coding(yes)).toEqual(["gzip", "console.log(1)"]);
    for (const no of ["identity", "br", "gzip;q=0", "gzip;q=0.0"])
      expect(await coding(no)).toEqual([null, "console.log(1)"]);
  });

  test("keeps a large page compressed alone, gives it to everybody, and gives it the policy that it needs", async () => {
    await using world = startHttpWorld();
    for (const accept of ["gzip", "identity"]) {
      const response = await fetch(world.url("/diagram.html"), { headers: { "accept-encoding": accept } });
      expect([accept, await response.text()]).toEqual([accept, "<p>"]);
      expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    }
  });

  test("is not sent again when nothing changed", async () => {
    await using world = startHttpWorld();
    const again = await fetch(world.url("/"), { headers: { "if-none-match": '"build-1"' } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await fetch(world.url("/"), { headers: { "if-none-match": '"build-0"' } })).status).toBe(200);
  });
});

import { expect, test } from "bun:test";
import { destinationOf, parseCall } from "./call-request.ts";

const HEAD = { method: "POST", url: "https://models.example/v1/responses", headers: [], provider: "p", model: "m" };
const providers = new Map([["p", { baseUrl: "https://models.example/v1", keys: [] }]]);
const destinationFor = (url: string) => {
  const call = parseCall({ ...HEAD, url });
  return call && destinationOf(call, providers as never);
};

test("a call goes to its provider's address, and not to one that names a user", () => {
  expect(destinationFor(HEAD.url)).toMatchObject({ provider: "p" });
  for (const who of ["user@", "user:password@", ":password@"])
    expect(destinationFor(`https://${who}models.example/v1/responses`)).toContain("not an address");
});

test("prices are numbers above zero, or nothing", () => {
  const prices = { input: -1, output: 2, cacheRead: Number.NaN, cacheWrite: "3" };
  expect(parseCall({ ...HEAD, prices })?.prices).toEqual({ input: 0, output: 2, cacheRead: 0, cacheWrite: 0 });
});

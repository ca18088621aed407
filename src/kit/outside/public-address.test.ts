/** Where a call may go: one address that was judged, or nowhere, and what lies beside the addresses that are refused. */
import { expect, test } from "bun:test";
import { isGlobalAddress } from "./addresses.ts";
import { judgeHost } from "./public-address.ts";

test.each([
  ["1.1.1.1", false, { address: "1.1.1.1" }],
  ["10.0.0.1", false, { refused: "private_network" }],
  ["10.0.0.1", true, { address: "10.0.0.1" }],
  ["[::1]", false, { refused: "private_network" }],
  ["open.example", false, { address: "1.1.1.1" }],
  ["mixed.example", false, { refused: "private_network" }],
  ["mixed.example", true, { address: "1.1.1.1" }],
  ["inner.example", false, { refused: "private_network" }],
  ["nobody.example", false, { refused: "unknown_name" }],
  ["broken.example", true, { refused: "unknown_name" }],
] as const)("a call to %s, trusted: %p, goes to one address or nowhere", async (host, trusted, judged) => {
  const names: Readonly<Record<string, readonly string[]>> = {
    "open.example": ["1.1.1.1", "8.8.8.8"],
    "mixed.example": ["1.1.1.1", "10.0.0.1"],
    "inner.example": ["10.0.0.1"],
    "nobody.example": [],
  };
  const resolve = async (name: string) => names[name] ?? Promise.reject(new Error("no such name"));
  const found: unknown = await judgeHost(resolve, host, trusted);
  expect(found).toEqual(judged);
});

test("a place is private unless somebody says that the operator chose it", async () => {
  const found: unknown = await judgeHost(async () => ["10.0.0.1"], "inner.example");
  expect(found).toEqual({ refused: "private_network" });
});

test.each([
  ["2600::5efe:102:304", false],
  ["2600::200:5efe:102:304", false],
  ["2600::100:5efe:102:304", true],
  ["2600::1:5efe:102:304", true],
  ["2600::5eff:102:304", true],
  ["2600::5efe:102:304%eth0", false],
  ["[2600::1]", true],
  ["1fff::1", false],
  ["4000::1", false],
  ["3fff:1000::1", true],
  ["nonsense", false],
])("%s is an address of the open internet: %p", (address, isOpen) => {
  expect(isGlobalAddress(address)).toBe(isOpen);
});

/** A private IPv4 address is never called, however it is written and whatever IPv6 address it is put into. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isAddress, isGlobalAddress } from "./addresses.ts";

const byte = fc.integer({ min: 0, max: 255 });
const v4 = (...parts: readonly (number | fc.Arbitrary<number>)[]) =>
  fc.tuple(...parts.map((part) => (typeof part === "number" ? fc.constant(part) : part)));

const PRIVATE = fc.oneof(
  v4(127, byte, byte, byte),
  v4(10, byte, byte, byte),
  v4(172, fc.integer({ min: 16, max: 31 }), byte, byte),
  v4(192, 168, byte, byte),
  v4(169, 254, byte, byte),
  v4(100, fc.integer({ min: 64, max: 127 }), byte, byte),
  v4(0, byte, byte, byte),
  v4(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
);

/** A prefix as a provider could have it. */
const PREFIX = fc
  .tuple(fc.integer({ min: 0x2003, max: 0x3ffe }), byte, byte)
  .map(([first, second, third]) => `${first.toString(16)}:${second.toString(16)}:${third.toString(16)}:1`);

interface Spelling {
  readonly name: string;
  write(bytes: readonly number[], prefix: string): string;
}

const hex = (high = 0, low = 0): string => ((high << 8) | low).toString(16);
const groups = ([a, b, c, d]: readonly number[]): string => `${hex(a, b)}:${hex(c, d)}`;
const number = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number => a * 2 ** 24 + b * 2 ** 16 + c * 256 + d;
const inverted = (bytes: readonly number[]): readonly number[] => bytes.map((value) => value ^ 255);

const V4_SPELLINGS: readonly Spelling[] = [
  { name: "dotted", write: (bytes) => bytes.join(".") },
  { name: "one number", write: (bytes) => String(number(bytes)) },
  { name: "one hexadecimal number", write: (bytes) => `0x${number(bytes).toString(16)}` },
  { name: "hexadecimal parts", write: (bytes) => bytes.map((value) => `0x${value.toString(16)}`).join(".") },
  { name: "octal parts", write: (bytes) => bytes.map((value) => `0${value.toString(8)}`).join(".") },
  { name: "two parts", write: ([a = 0, ...rest]) => `${a}.${number([0, ...rest])}` },
];

const V6_SPELLINGS: readonly Spelling[] = [
  { name: "IPv4-compatible, dotted", write: (bytes) => `::${bytes.join(".")}` },
  { name: "IPv4-compatible", write: (bytes) => `::${groups(bytes)}` },
  { name: "IPv4-compatible, in full", write: (bytes) => `0000:0:0:0:0:0:${groups(bytes)}` },
  { name: "IPv4-mapped, dotted", write: (bytes) => `::ffff:${bytes.join(".")}` },
  { name: "IPv4-mapped", write: (bytes) => `::FFFF:${groups(bytes)}` },
  { name: "IPv4-translated", write: (bytes) => `::ffff:0:${groups(bytes)}` },
  { name: "NAT64 /96", write: (bytes) => `64:ff9b::${groups(bytes)}` },
  { name: "NAT64 /96 for local use", write: (bytes) => `64:ff9b:1::${groups(bytes)}` },
  { name: "NAT64 /48", write: ([a, b, c, d = 0]) => `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d, 0)}::` },
  { name: "6to4", write: (bytes) => `2002:${groups(bytes)}::1` },
  { name: "Teredo, as server", write: (bytes) => `2001:0:${groups(bytes)}:0:0:808:808` },
  { name: "Teredo, as client", write: (bytes) => `2001:0:808:808:0:0:${groups(inverted(bytes))}` },
  { name: "ISATAP", write: (bytes, prefix) => `${prefix}:0:5efe:${groups(bytes)}` },
  { name: "ISATAP, dotted", write: (bytes, prefix) => `${prefix}:0:5efe:${bytes.join(".")}` },
  { name: "ISATAP of a global address", write: (bytes, prefix) => `${prefix}:200:5efe:${groups(bytes)}` },
  { name: "ISATAP, link-local", write: (bytes) => `fe80::5efe:${groups(bytes)}` },
];

/** As a client would see it, and as an address in a URL becomes after parsing. */
const forms = (address: string): readonly string[] => {
  const host = address.includes(":") ? `[${address}]` : address;
  const parsed = URL.parse(`http://${host}/`)?.hostname;
  return parsed === undefined ? [address] : [address, parsed, parsed.replace(/^\[|\]$/g, "")];
};

test.each([...V4_SPELLINGS, ...V6_SPELLINGS])("a private IPv4 address written as $name is not global", ({ write }) => {
  fc.assert(
    fc.property(PRIVATE, PREFIX, (bytes, prefix) => {
      for (const form of forms(write(bytes, prefix))) expect([form, isGlobalAddress(form)]).toEqual([form, false]);
    }),
    { numRuns: 200 },
  );
});

test("an IPv6 address outside of 2000::/3 is not global", () => {
  const outside = fc.oneof(fc.integer({ min: 0, max: 0x1fff }), fc.integer({ min: 0x4000, max: 0xffff }));
  fc.assert(
    fc.property(outside, fc.integer({ min: 1, max: 0xffff }), (first, last) => {
      expect(isGlobalAddress(`${first.toString(16)}:1:2:3:4:5:6:${last.toString(16)}`)).toBe(false);
    }),
  );
});

test("a usual IPv6 address of a provider is global", () => {
  fc.assert(
    fc.property(PREFIX, fc.integer({ min: 1, max: 0xffff }), (prefix, last) => {
      expect(isGlobalAddress(`${prefix}::${last.toString(16)}`)).toBe(true);
    }),
  );
});

test.each(["2606:4700]::1111", "2606:[4700::1111", "8.8.8.8]x", "x[8.8.8.8"])(
  "%s, with a bracket in the middle, is no address",
  (text) => {
    expect([isAddress(text), isGlobalAddress(text)]).toEqual([false, false]);
  },
);

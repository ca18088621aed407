/** The table of keys of small order, checked against the curve itself. */
import { expect, test } from "bun:test";
import { isSmallOrderKey } from "./credentials.ts";

const P = 2n ** 255n - 19n;
const mod = (a: bigint): bigint => ((a % P) + P) % P;
function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, mod(base)];
  for (let left = exponent; left > 0n; left >>= 1n, square = mod(square * square))
    if (left & 1n) result = mod(result * square);
  return result;
}
const inverse = (a: bigint): bigint => power(a, P - 2n);
const D = mod(-121665n * inverse(121666n));

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

function add(a: Point, b: Point): Point {
  const cross = mod(D * a.x * b.x * a.y * b.y);
  const x = mod(mod(a.x * b.y + a.y * b.x) * inverse(1n + cross));
  const y = mod(mod(a.y * b.y + a.x * b.x) * inverse(mod(1n - cross)));
  return { x, y };
}

/** The point of a key, or null when there is none. */
function pointOf(hex: string): Point | null {
  const bytes = Buffer.from(hex, "hex").reverse();
  const y = mod(BigInt(`0x${bytes.toString("hex")}`) & (2n ** 255n - 1n));
  const square = mod((y * y - 1n) * inverse(mod(D * y * y + 1n)));
  const root = power(square, (P + 3n) / 8n);
  const x = [root, mod(root * power(2n, (P - 1n) / 4n))].find((one) => mod(one * one) === square);
  return x === undefined ? null : { x, y };
}

function isSmall(hex: string): boolean {
  const point = pointOf(hex);
  if (!point) return false;
  const two = add(point, point);
  const four = add(two, two);
  const eight = add(four, four);
  return eight.x === 0n && eight.y === 1n;
}

const hexOf = (y: bigint, sign: 0 | 1): string => {
  const bytes = Buffer.from((y | (BigInt(sign) << 255n)).toString(16).padStart(64, "0"), "hex");
  return bytes.reverse().toString("hex");
};
/** Every y whose point has an order that divides 8: doubled three times it is the neutral one. */
const SMALL_Y = ((): readonly bigint[] => {
  const small = pointOf("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
  if (!small) throw new Error("not a point");
  const all: bigint[] = [];
  let point = small;
  for (let n = 0; n < 8; n++, point = add(point, small)) all.push(point.y);
  return [...new Set(all)];
})();

test("a key of small order is refused in each of its forms: both signs, both ways to write a number below 19", () => {
  expect(SMALL_Y).toHaveLength(5);
  const forms = SMALL_Y.flatMap((y) => [y, ...(y < 19n ? [y + P] : [])]).flatMap((y) => [hexOf(y, 0), hexOf(y, 1)]);
  expect(forms).toHaveLength(14);
  for (const hex of forms) expect([hex, isSmall(hex), isSmallOrderKey(hex)]).toEqual([hex, true, true]);
  expect(forms.every((hex) => isSmallOrderKey(hex.toUpperCase()))).toBe(true);
});

test("a real key is not refused", async () => {
  for (let n = 0; n < 20; n++) {
    const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const hex = Buffer.from(await crypto.subtle.exportKey("raw", pair.publicKey)).toString("hex");
    expect([isSmall(hex), isSmallOrderKey(hex)]).toEqual([false, false]);
  }
});

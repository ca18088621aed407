import { describe, expect, test } from "bun:test";
import { secret } from "../../kit/secret.ts";
import { CHUNK_BYTES, TAG_BYTES } from "./chunks.ts";
import { HEADER_BYTES } from "./header.ts";
import { sealed, unsealed } from "./seal.ts";

const PASSPHRASE = secret("correct horse battery");
const SALT = new Uint8Array(16).fill(7);
const CHEAP = 14; // the least that is taken

async function* stream(bytes: Uint8Array, piece = 10_007): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

const seal = (text: Uint8Array) => gather(sealed(stream(text), { passphrase: PASSPHRASE, salt: SALT, cost: CHEAP }));
const open = (bytes: Uint8Array, passphrase = PASSPHRASE) => gather(unsealed(stream(bytes), passphrase));

describe("encryption of backups", () => {
  test.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])(
    "gives back %p bytes",
    async (length) => {
      const text = Buffer.alloc(length, "abc");
      const closed = await seal(text);
      expect(closed.includes("abcabcabc")).toBe(false);
      expect((await open(closed)).equals(text)).toBe(true);
    },
  );

  test("says that the passphrase is wrong", async () => {
    await expect(open(await seal(Buffer.from("text")), secret("another one"))).rejects.toMatchObject({
      code: "passphrase_wrong",
    });
  });

  test("takes a passphrase however its accents are written", async () => {
    const closed = await gather(
      sealed(stream(Buffer.from("text")), { passphrase: secret("caf\u00e9 au lait"), salt: SALT, cost: CHEAP }),
    );
    expect((await open(closed, secret("cafe\u0301 au lait"))).toString()).toBe("text");
  });

  test("refuses a byte that was changed, wherever it is", async () => {
    const closed = await seal(Buffer.alloc(2 * CHUNK_BYTES + 5, "x"));
    for (const at of [HEADER_BYTES, HEADER_BYTES + CHUNK_BYTES + TAG_BYTES + 9, closed.length - 1]) {
      const changed = Buffer.from(closed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(changed)).rejects.toMatchObject({ code: "backup_damaged" });
    }
  });

  test("refuses chunks that are cut off, left out, repeated or in another order", async () => {
    const closed = await seal(Buffer.alloc(3 * CHUNK_BYTES, "x"));
    const size = CHUNK_BYTES + TAG_BYTES;
    const chunk = (no: number) => closed.subarray(HEADER_BYTES + no * size, HEADER_BYTES + (no + 1) * size);
    const head = closed.subarray(0, HEADER_BYTES);
    const wrong = [
      [head, chunk(0), chunk(1)],
      [head, chunk(0), chunk(2)],
      [head, chunk(1), chunk(0), chunk(2)],
      [head, chunk(0), chunk(0), chunk(1), chunk(2)],
      [head],
    ];
    for (const parts of wrong)
      await expect(open(Buffer.concat(parts))).rejects.toMatchObject({ code: "backup_damaged" });
  });

  test("does not take a cost that would use up all memory, or none", async () => {
    const closed = await seal(Buffer.from("text"));
    for (const cost of [1, 31]) {
      const forged = Buffer.from(closed);
      forged[8] = cost;
      await expect(open(forged)).rejects.toMatchObject({ code: "backup_damaged" });
    }
  });
});

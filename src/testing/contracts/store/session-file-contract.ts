/** What every store promises about session files: the end of a turn stores what the turn made of one, or nothing is stored at all. */
import { expect, test } from "bun:test";
import type { MediaId } from "../../../contracts/ids.ts";
import type { Store } from "../../../contracts/store.ts";
import type { FileChange, StoredFile } from "../../../contracts/store/session-files.ts";
import { end, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

/** The change that makes `text` of what is stored. */
export function changeTo(name: string, text: string, stored: StoredFile | null): FileChange {
  const data = Buffer.from(text);
  const from = stored?.bytes ?? 0;
  return { name, grownFrom: stored?.digest ?? null, from, data: data.subarray(from), digest: digestOf(data) };
}

export function digestOf(data: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(data).digest("hex");
}

export async function contentOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(pieces)).toString();
}

/** A turn of the session `a` that leaves this text in its file. */
async function talk({ inbox, turns, sessionFiles }: Store, id: string, text: string): Promise<string> {
  await inbox.accept(row(`in-${id}`, "a"));
  const { sessionFile } = await turns.begin(turn(`t-${id}`, "a", [`in-${id}`]));
  const fileChange = changeTo(sessionFile.name, text, await sessionFiles.find(sessionFile.name));
  await turns.finish(end(`t-${id}`, { settledBytes: Buffer.byteLength(text), fileChange }));
  return sessionFile.name;
}

export function sessionFilePromises(open: () => Promise<StoreWorld>): void {
  test("a session file is stored with the end of each turn, and another gateway reads all of it, unless files stay on the machine", async () => {
    await using world = await open();
    const isLocal = world.store.sessionFiles.isLocal;
    expect(isLocal).toBe(!world.isShared);
    const name = await talk(world.store, "1", "header\none\n");
    await talk(world.store, "2", "header\none\ntwo\n");
    const { sessionFiles } = await world.openSecond();
    const stored = await sessionFiles.find(name);
    if (isLocal || stored === null) return expect([isLocal, stored]).toEqual([true, null]);
    expect(stored).toEqual({ bytes: 15, digest: digestOf(Buffer.from("header\none\ntwo\n")), canGrow: true });
    expect(await contentOf(sessionFiles.read(name, stored))).toBe("header\none\ntwo\n");
    await sessionFiles.remove(name);
    expect(await sessionFiles.find(name)).toBeNull();
  });

  test("the end of a turn that was ended already changes no session file", async () => {
    await using world = await open();
    const { turns, sessionFiles } = world.store;
    const name = await talk(world.store, "1", "header\none\n");
    const before = await sessionFiles.find(name);
    const fileChange = changeTo(name, "header\none\nlate\n", before);
    expect(await turns.finish(end("t-1", { settledBytes: 16, fileChange }))).toBeNull();
    expect(await sessionFiles.find(name)).toEqual(before);
    await sessionFiles.remove("nobody-has-this.jsonl");
  });

  test("session files that no session has any more are named, and copies of media without a row are removed, where others may delete them", async () => {
    await using world = await open();
    const { sessionFiles, media, sessions } = world.store;
    const first = await talk(world.store, "1", "header\none\n");
    await sessions.reset(sessionKey("a"), 4_000);
    const names = [first, await talk(world.store, "2", "header\n"), "deleted-elsewhere.jsonl"];
    expect(await sessionFiles.unknownOf(names)).toEqual(world.isShared ? ["deleted-elsewhere.jsonl"] : []);
    expect(await sessionFiles.unknownOf([])).toEqual([]);
    const mediaId = "media_copy" as MediaId;
    await media.put({ mediaId, owner: OPERATOR, name: "n", mimeType: "t", data: Buffer.from("x"), at: 1 });
    expect(await media.removeCopies(Number.MAX_SAFE_INTEGER)).toBe(0);
    expect(await media.read(mediaId)).not.toBeNull();
  });
}

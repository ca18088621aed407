/** What stored files promise, wherever their contents are: a file is what its last change made of it, as a whole, or what it was before. */
import { expect, test } from "bun:test";
import type { StoredFile } from "../../../contracts/store/session-files.ts";
import type { StoredFiles } from "../../../store/files/stored-files.ts";
import type { Steps } from "../../../store/steps.ts";
import { createChance } from "../../chance.ts";
import { changeTo, contentOf, digestOf } from "./session-file-contract.ts";

export interface FilesWorld extends AsyncDisposable {
  readonly files: StoredFiles;
  write<T>(run: () => Steps<T>): Promise<T>;
  /** Changes one byte of a stored chunk of this file. */
  damage(name: string): Promise<void>;
  /** How many chunks of this file there are, also those that nothing refers to. */
  chunks(name: string): Promise<number>;
}

const NAME = "ses-stored.jsonl";
const MIB = 1024 * 1024;

async function store({ files, write }: FilesWorld, name: string, text: string, grownFrom: StoredFile | null) {
  const staged = await files.stage(changeTo(name, text, grownFrom));
  await files.discard(await write(() => files.keep(staged)));
  return found({ files, write }, name);
}

async function found({ files, write }: Pick<FilesWorld, "files" | "write">, name: string): Promise<StoredFile> {
  const stored = await write(() => files.find(name));
  if (stored === null) throw new Error(`${name} is not stored`);
  return stored;
}

export function storedFilesContract(open: () => Promise<FilesWorld>): void {
  test("a file that grows and is stored anew at random is always what its last change made of it", async () => {
    await using world = await open();
    const chance = createChance(7);
    let [text, stored] = ["", null as StoredFile | null];
    for (let step = 0; step < 25; step++) {
      const grows = stored !== null && chance.hits(0.75);
      const more = `${step} `.repeat(1 + chance.between(0, grows ? 90_000 : 40_000));
      text = grows ? text + more : more;
      stored = await store(world, NAME, text, grows ? stored : null);
      expect(stored).toMatchObject({ bytes: text.length, digest: digestOf(Buffer.from(text)) });
    }
    if (stored) expect((await contentOf(world.files.read(NAME, stored))) === text).toBe(true);
  });

  test("a large change is seen only when it is complete, and one that was never completed leaves nothing in the file", async () => {
    await using world = await open();
    const before = await store(world, NAME, "short\n", null);
    const long = "long ".repeat(MIB / 4);
    await world.files.stage(changeTo(NAME, `short\n${long}`, before));
    await world.files.stage(changeTo(NAME, long, null));
    expect(await contentOf(world.files.read(NAME, await found(world, NAME)))).toBe("short\n");
    const after = await store(world, NAME, "short\nand more\n", before);
    expect(await contentOf(world.files.read(NAME, after))).toBe("short\nand more\n");
  });

  test("a file of many small changes asks to be stored as a whole, and is read with few chunks then", async () => {
    await using world = await open();
    let [text, stored] = ["", null as StoredFile | null];
    while (stored?.canGrow ?? true) stored = await store(world, NAME, (text += "entry\n"), stored);
    const chunks = await world.chunks(NAME);
    expect(chunks).toBeGreaterThan(100);
    expect((await store(world, NAME, text, null)).canGrow).toBe(true);
    expect(await world.chunks(NAME)).toBe(1);
  });

  test("a change of something else than what is stored is not stored", async () => {
    await using world = await open();
    const first = await store(world, NAME, "one\n", null);
    const second = await store(world, NAME, "one\ntwo\n", first);
    expect(await store(world, NAME, "one\nlate\n", first)).toEqual(second);
    expect(await contentOf(world.files.read(NAME, second))).toBe("one\ntwo\n");
  });

  test("a damaged chunk is not served", async () => {
    await using world = await open();
    const stored = await store(world, NAME, "as it was\n", null);
    await world.damage(NAME);
    await expect(contentOf(world.files.read(NAME, stored))).rejects.toMatchObject({ code: "store_corrupt" });
  });

  test("a file that was changed since it was found is not called damaged", async () => {
    await using world = await open();
    const first = await store(world, NAME, "one\n", null);
    await store(world, NAME, "one\ntwo\n", first);
    await expect(contentOf(world.files.read(NAME, first))).rejects.toMatchObject({ code: "store_failed" });
  });

  test("a file is removed with all its chunks, and others with like names stay", async () => {
    await using world = await open();
    await store(world, NAME, "x".repeat(MIB), null);
    await store(world, `${NAME}-2`, "other", null);
    await world.files.remove(NAME);
    await world.files.remove(NAME); // gone already
    expect([await world.chunks(NAME), await world.chunks(`${NAME}-2`)]).toEqual([0, 1]);
    expect(await world.write(() => world.files.find(NAME))).toBeNull();
  });
}

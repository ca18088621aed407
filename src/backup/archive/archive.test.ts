import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { tempHome } from "../../testing/temp-home.ts";
import { MANIFEST_PATH, manifestOf, type ManifestFile } from "../manifest.ts";
import { readArchive } from "./read-archive.ts";
import { ARCHIVE_END, headerOf, padding, type TarEntry } from "./tar.ts";
import { archiveBytes, type Source } from "./write-archive.ts";

const NEVER = new AbortController().signal;
const ABOUT = { version: "1", createdAt: "2026-01-01T00:00:00.000Z", home: "/home" };

async function bytesOf(sources: readonly Source[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const manifest = (files: readonly ManifestFile[], gone: readonly string[]) => manifestOf(ABOUT, files, gone);
  for await (const piece of archiveBytes({ sources, manifest, progress: () => undefined }, NEVER)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** In pieces of an odd length, because streams cut where they like. */
async function* stream(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
}

async function contentsOf(bytes: Uint8Array) {
  const found: Record<string, string> = {};
  const manifest = await readArchive(stream(bytes), async ({ path, kind, target }, data) => {
    let text = kind === "link" ? `-> ${target}` : "";
    for await (const piece of data) text += Buffer.from(piece).toString("utf8");
    found[path] = text;
  });
  return { found, manifest };
}

function entry(path: string, text: string): Buffer {
  const made: TarEntry = { kind: "file", path, mode: 0o600, bytes: text.length, modifiedAt: 0, target: "" };
  return Buffer.concat([headerOf(made), Buffer.from(text), padding(text.length)]);
}

function archive(files: readonly (readonly [path: string, text: string])[], listed = files): Buffer {
  const rows = listed.map(([path, text]) => ({
    path,
    bytes: text.length,
    sha256: createHash("sha256").update(text).digest("hex"),
  }));
  const manifest = JSON.stringify(manifestOf(ABOUT, rows, []));
  const entries = [...files, [MANIFEST_PATH, manifest] as const].map(([path, text]) => entry(path, text));
  return Buffer.concat([...entries, ARCHIVE_END]);
}

describe("an archive", () => {
  test("gives back files, folders and links with long names and names in any script", async () => {
    await using folder = await tempHome();
    const long = `${"ä".repeat(70)}-${"x".repeat(90)}`;
    await writeFile(join(folder.path, "plain"), "one");
    await writeFile(join(folder.path, long), "two");
    await mkdir(join(folder.path, "empty"));
    await symlink("/somewhere/else", join(folder.path, "link"));
    const at = (path: string, kind: Source["kind"]): Source => ({ path, kind, from: [join(folder.path, path)] });
    const sources = [at("plain", "file"), at(long, "file"), at("empty", "folder"), at("link", "link")];
    const { found, manifest } = await contentsOf(await bytesOf(sources));
    expect(found).toEqual({ plain: "one", [long]: "two", empty: "", link: "-> /somewhere/else" });
    expect(manifest.files.map(({ path }) => path)).toEqual(["plain", long]);
  });

  test("is a tar file that other programs read", async () => {
    await using folder = await tempHome();
    const long = `${"ä".repeat(60)}-${"x".repeat(90)}`;
    await writeFile(join(folder.path, long), "two");
    const bytes = await bytesOf([{ path: long, kind: "file", from: [join(folder.path, long)] }]);
    await writeFile(join(folder.path, "a.tar"), bytes);
    const unpacked = join(folder.path, "unpacked");
    await mkdir(unpacked);
    expect(Bun.spawnSync(["tar", "-xf", join(folder.path, "a.tar"), "-C", unpacked]).exitCode).toBe(0);
    expect((await readdir(unpacked)).toSorted()).toEqual([MANIFEST_PATH, long].toSorted());
    expect(await readFile(join(unpacked, long), "utf8")).toBe("two");
  });

  test("takes a file from the second place when it has moved, and names one that is gone", async () => {
    await using folder = await tempHome();
    await writeFile(join(folder.path, "there"), "text");
    const places = [join(folder.path, "not-here"), join(folder.path, "there")];
    const sources: Source[] = [
      { path: "moved", kind: "file", from: places },
      { path: "gone", kind: "file", from: [join(folder.path, "never")] },
    ];
    const { found, manifest } = await contentsOf(await bytesOf(sources));
    expect(found).toEqual({ moved: "text" });
    expect(manifest.gone).toEqual(["gone"]);
  });

  test("stays whole when a file shrinks while it is read", async () => {
    await using folder = await tempHome();
    const file = join(folder.path, "shrinking");
    await writeFile(file, "x".repeat(600_000));
    const pieces: Uint8Array[] = [];
    const manifest = (files: readonly ManifestFile[], gone: readonly string[]) => manifestOf(ABOUT, files, gone);
    const sources: Source[] = [{ path: "shrinking", kind: "file", from: [file] }];
    for await (const piece of archiveBytes({ sources, manifest, progress: () => undefined }, NEVER)) {
      pieces.push(piece);
      await truncate(file, 300_000);
    }
    const { found } = await contentsOf(Buffer.concat(pieces));
    expect(found["shrinking"]?.length).toBe(600_000);
    expect(found["shrinking"]?.slice(0, 262_144)).toBe("x".repeat(262_144));
  });
});

describe("reading an archive", () => {
  test("takes one that is whole", async () => {
    expect((await contentsOf(archive([["a", "1"]]))).found).toEqual({ a: "1" });
  });

  const whole = archive([["a", "one"]]);
  const changed = Buffer.from(whole);
  changed[512] = 0x21;
  const badHeader = Buffer.from(whole);
  badHeader[0] = 0x21;
  test.each([
    ["a changed file", changed, "a is not what was written"],
    ["a changed header", badHeader, "does not match its sum"],
    ["a missing file", archive([], [["a", "1"]]), "a is missing"],
    ["an added file", archive([["a", "1"], ["b", "2"]], [["a", "1"]]), "does not name"], // prettier-ignore
    ["a file that is there twice", archive([["a", "1"], ["a", "1"]]), "it holds a twice"], // prettier-ignore
    ["an end in the middle", whole.subarray(0, 700), "cut off"],
    ["a file after the manifest", Buffer.concat([whole.subarray(0, -ARCHIVE_END.length), entry("b", "2"), ARCHIVE_END]), "after its manifest"], // prettier-ignore
    ["no manifest", Buffer.concat([entry("a", "1"), ARCHIVE_END]), "ends before its manifest"],
    ["a path that leads out", archive([["../a", "1"]]), "outside of the state directory"],
    ["an absolute path", archive([["/etc/passwd", "1"]]), "outside of the state directory"],
    ["a path with a folder above in it", archive([["a/../../b", "1"]]), "outside of the state directory"],
    ["no archive", Buffer.from("hello".repeat(200)), "does not match its sum"],
  ])("refuses %s", async (_what, bytes, because) => {
    await expect(contentsOf(bytes)).rejects.toThrow(because);
  });
});

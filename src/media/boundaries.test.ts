/** Files at the boundaries of what is known about them, as tables: names that are secrets, types, sizes of pictures, folders, and what is opened. */
import { describe, expect, spyOn, test } from "bun:test";
import { chmod, mkdir, open, readdir, realpath, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../testing/temp-home.ts";
import { judgeName } from "./file-rules.ts";
import { fileType, mediaKind } from "./file-type.ts";
import { receivedMediaId } from "./inbound/attached-files.ts";
import { pictureSize } from "./inbound/picture-size.ts";
import { openAgentFile } from "./open-agent-file.ts";
import { judgePath } from "./path-rules.ts";

const NEVER = new AbortController().signal;
const words = (text: string): readonly string[] => text.split(" ");

describe("the name of a secret file", () => {
  test.each(
    words(
      "pem key p8 p12 pfx ppk jks keystore keytab agekey gpg pgp kdb kdbx keychain ovpn env tfstate tfvars secret secrets token credentials password passwd",
    ),
  )("ends with .%s", (ending) => {
    for (const name of [`x.${ending}`, `X.${ending.toUpperCase()}`, `x.${ending}.bak`, `.${ending}`])
      expect(judgeName([name]).ok).toBe(false);
    expect(judgeName([`${ending}x.png`]).ok).toBe(true);
  });

  test.each(
    words(
      "env netrc _netrc npmrc pypirc pgpass my.cnf htpasswd passwd shadow auth.json kubeconfig authorized_keys known_hosts wallet.dat cookies.sqlite logins.json key3.db key4.db application_default_credentials.json pi-gateway.json pi-gateway.jsonc cvs rcs sccs _darcs _mtn",
    ),
  )("is %s, in any folder and as a copy", (name) => {
    for (const path of [[name], ["a", name], [name, "x.txt"], [`${name}~`], [`${name}.old`], [name.toUpperCase()]])
      expect(judgeName(path).ok).toBe(false);
  });

  test.each([
    ...words("secret secrets credential credentials password passwords passwd api-key api_keys apikeys private_key"),
    ...words("prod.secret my-password token tokens access-token auth_token refresh.token bot-token api-tokens"),
    ...words("service-account service_account-x client-secret-1 vault_pass_prod"),
  ])("is %s with an ending of data", (stem) => {
    for (const ending of words(
      "txt json jsonc json5 yaml yml toml ini cfg conf config csv tsv xml plist properties md",
    ))
      expect(judgeName([`${stem}.${ending}`]).ok).toBe(false);
    for (const ending of words("sh db sqlite log zip tar gz")) expect(judgeName([`${stem}.${ending}`]).ok).toBe(false);
    expect(judgeName([stem]).ok).toBe(false);
    expect(judgeName([`${stem}.png`]).ok).toBe(true);
  });

  test.each(words("bak backup old orig save copy tmp swp 1 42"))("stays one as a copy that ends with .%s", (ending) => {
    expect(judgeName([`server.pem.${ending}`]).ok).toBe(false);
    expect(judgeName([`notes.${ending}`]).ok).toBe(true);
  });

  test.each(words("id_rsa id_dsa id_ecdsa id_ed25519 id_rsa-work id_rsa.old2"))(
    "is %s, and its public half is not",
    (name) => {
      expect(judgeName([name]).ok).toBe(false);
      expect(judgeName(["id_rsa.pub"]).ok).toBe(true);
    },
  );

  test("is none when a name is nothing but the marks of a copy", () => {
    expect(judgeName(["~"]).ok).toBe(true);
  });
});

describe("the type of a file", () => {
  const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
  const at = (offset: number, text: string): string => `${"\x02".repeat(offset)}${text}`;
  const riff = (text: string): string => `RIFF....${text}`;
  test.each([
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["\xff\xd8\xff", "image/jpeg"],
    ["GIF87a", "image/gif"],
    ["GIF89a", "image/gif"],
    [riff("WEBP"), "image/webp"],
    [at(8, "WEBP"), "application/octet-stream"],
    [riff("WAVE"), "audio/wav"],
    [at(8, "WAVE"), "application/octet-stream"],
    ["%PDF-1", "application/pdf"],
    ["ID3", "audio/mpeg"],
    ["\xff\xfb", "audio/mpeg"],
    ["\xff\xf3", "audio/mpeg"],
    ["OggS", "audio/ogg"],
    ["fLaC", "audio/flac"],
    [at(4, "ftypM4A"), "audio/mp4"],
    [at(4, "ftypqt"), "video/quicktime"],
    [at(4, "ftypisom"), "video/mp4"],
    ["\x1aE\xdf\xa3", "video/webm"],
    ["PK\x03\x04", "application/zip"],
    ["\x1f\x8b", "application/gzip"],
    ["BMW is a car", "text/plain"],
    ["a\x00b", "application/octet-stream"],
    ["a\x1fb", "application/octet-stream"],
    ["a\tb\x1b[0m\r\n", "text/plain"],
    ["\xff\xfe\xfd", "application/octet-stream"],
    ["x <svg >", "image/svg+xml"],
    ["<SVG\n", "image/svg+xml"],
    ["<svgs>", "text/plain"],
    ["<!DOCTYPE html>", "text/html"],
    ["<html >", "text/html"],
    ["<head>", "text/html"],
    ["<body>", "text/html"],
    ["x<script>", "text/html"],
    ["<iframe >", "text/html"],
    ["<header>", "text/plain"],
    [' \n{"a":1}', "application/json"],
    ["[1]", "application/json"],
    ["a [1]", "text/plain"],
    ["", "text/plain"],
  ])("%# is told by its content", (content, type) => {
    expect(fileType(latin1(content))).toBe(type);
  });

  test("is looked for in its first four kilobytes, of which the last character may be cut", () => {
    expect(fileType(Buffer.from(`${"a".repeat(4_095)}é`))).toBe("text/plain");
    expect(fileType(Buffer.from(`${"a".repeat(4_096)}\0`))).toBe("text/plain");
    expect(fileType(Buffer.from(`${"a".repeat(4_095)}\0`))).toBe("application/octet-stream");
  });

  test("of a bitmap counts only with its own size in it", () => {
    const bitmap = (bytes: number, says: number): Uint8Array => {
      const made = Buffer.alloc(bytes, 1);
      made.write("BM");
      made.writeUInt32LE(says, 2);
      return made;
    };
    expect(fileType(bitmap(26, 26))).toBe("image/bmp");
    expect(fileType(bitmap(26, 27))).toBe("application/octet-stream");
    expect(fileType(bitmap(25, 25))).toBe("application/octet-stream");
  });

  test.each([
    ["image/png", "photo"],
    ["image/jpeg", "photo"],
    ["image/gif", "photo"],
    ["image/webp", "photo"],
    ["image/bmp", "photo"],
    ["image/svg+xml", "document"],
    ["audio/x", "audio"],
    ["video/x", "video"],
    ["text/plain", "document"],
  ] as const)("%s is sent as %s", (type, kind) => {
    expect(mediaKind(type)).toBe(kind);
  });
});

describe("the size of a JPEG", () => {
  const frame = (marker: number): readonly number[] => [0xff, marker, 0, 17, 8, 0, 5, 0, 6, 3, 0];
  const jpeg = (...bytes: readonly number[]) => pictureSize(Uint8Array.from([0xff, 0xd8, ...bytes]), "image/jpeg");
  const SIZE = { width: 6, height: 5 };
  const FRAMES = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];

  test.each(FRAMES)("is in the frame %d", (marker) => {
    expect(jpeg(...frame(marker))).toEqual(SIZE);
  });

  test.each([0xbf, 0xc4, 0xc8, 0xcc, 0xe0, 0xfe])(
    "is behind the segment %d, which is skipped by its length",
    (marker) => {
      expect(jpeg(0xff, marker, 0, 4, 9, 9, ...frame(0xc0))).toEqual(SIZE);
    },
  );

  test.each([0x01, 0xd0, 0xd4, 0xd7, 0xd8])("is behind the mark %d, which has no length", (marker) => {
    expect(jpeg(0xff, marker, ...frame(0xc0))).toEqual(SIZE);
  });

  test.each([0xd9, 0xda])("is not looked for behind the mark %d", (marker) => {
    expect(jpeg(0xff, marker, 0, 2, ...frame(0xc0))).toBeNull();
  });

  test("is behind filling bytes, and nowhere when a segment does not begin with a mark, or it ends too early", () => {
    expect(jpeg(0xff, 0xff, 0xff, ...frame(0xc0).slice(1))).toEqual(SIZE);
    expect(jpeg(0, ...frame(0xc0))).toBeNull();
    expect(jpeg(...frame(0xc0).slice(0, 9))).toBeNull();
    expect(jpeg(...frame(0xc0).slice(0, 10))).toEqual(SIZE);
  });

  test("is none where a side is nothing", () => {
    expect(jpeg(0xff, 0xc0, 0, 17, 8, 0, 0, 0, 6, 3, 0)).toBeNull();
    expect(jpeg(0xff, 0xc0, 0, 17, 8, 0, 5, 0, 0, 3, 0)).toBeNull();
    expect(jpeg(0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3, 0)).toEqual({ width: 1, height: 1 });
  });
});

describe("a path of an agent", () => {
  test.each([
    ["/a/x", ["/"], "/", ["a", "x"]],
    ["/srv/deep/x", ["/srv", "/srv/deep"], "/srv/deep", ["x"]],
    ["/srv/deep/x", ["/srv/deep", "/srv"], "/srv/deep", ["x"]],
    ["/srv/x", ["/srv/"], "/srv/", ["x"]],
  ])("%s below %p is in the nearest folder", (path, roots, root, parts) => {
    expect(judgePath(path, { base: null, roots })).toEqual({ ok: true, root, parts });
  });

  test.each([
    [":a", true],
    ["a b:c", false],
  ])("%p may be sent: %p", (path, ok) => {
    expect(judgePath(path, { base: "/s", roots: ["/s"] }).ok).toBe(ok);
  });

  test.each([
    [["attachments", "media_1.png"], "media_1"],
    [["attachments", "media_1"], "media_1"],
    [["attachments", "a.b.txt"], "a.b"],
    [["attachments"], null],
    [["attachments", "a", "b"], null],
    [["other", "media_1.png"], null],
  ])("%p holds the attachment %p", (parts, id) => {
    const found: string | null = receivedMediaId(parts);
    expect(found).toBe(id);
  });
});

describe("a file that is opened", () => {
  const uid = process.getuid?.() ?? 0;
  const opened = () =>
    readdir("/proc/self/fd").then(
      (all) => all.length,
      () => 0,
    );

  test("leaves no handle behind, whether it is sent, refused or not there", async () => {
    await using home = await tempHome();
    const root = await realpath(home.path);
    await mkdir(join(root, "a/b"), { recursive: true });
    await writeFile(join(root, "a/b/x.txt"), "x");
    await writeFile(join(root, "a/b/empty.txt"), "");
    const limits = { base: root, roots: [root], maxBytes: 10, uid };
    const look = async (): Promise<void> => {
      for (const path of ["a/b/x.txt", "a/b/empty.txt", "a/b/none.txt", "a/none/x.txt", "a/b"])
        await openAgentFile(path, limits, NEVER);
    };
    await look();
    const before = await opened();
    for (let round = 0; round < 5; round++) await look();
    expect(await opened()).toBe(before);
  });

  test("is not read at all when it is too large, is empty or is somebody else's", async () => {
    await using home = await tempHome();
    const root = await realpath(home.path);
    await writeFile(join(root, "large.txt"), "");
    await truncate(join(root, "large.txt"), 11 * 1024 * 1024);
    await writeFile(join(root, "fits.txt"), "x".repeat(10));
    const handle = await open(join(root, "fits.txt"));
    using reads = spyOn(Object.getPrototypeOf(handle) as { read: () => unknown }, "read");
    const limits = { base: root, roots: [root], maxBytes: 10 * 1024 * 1024, uid };
    expect(await openAgentFile("large.txt", limits, NEVER)).toMatchObject({
      ok: false,
      because: "The file is larger than 10 MiB, which is the most that is sent.",
    });
    expect(await openAgentFile("fits.txt", { ...limits, uid: uid + 1 }, NEVER)).toMatchObject({ ok: false });
    expect(reads.mock.calls.length).toBe(0);
    expect(await openAgentFile("fits.txt", { ...limits, maxBytes: 10 }, NEVER)).toMatchObject({
      ok: true,
      name: "fits.txt",
      about: { parts: ["fits.txt"], isInBase: true },
    });
    await handle.close();
  });

  test("is told apart by why it cannot be opened", async () => {
    await using home = await tempHome();
    const root = await realpath(home.path);
    await writeFile(join(root, "mine.txt"), "x");
    const limits = { base: root, roots: [root], maxBytes: 10, uid };
    const because = async (path: string) => {
      const file = await openAgentFile(path, limits, NEVER);
      return file.ok ? null : file.because;
    };
    expect(await because("none.txt")).toBe("There is no such file.");
    expect(await because("mine.txt/x")).toContain("not a plain file");
    if (uid !== 0) {
      await chmod(join(root, "mine.txt"), 0);
      expect(await because("mine.txt")).toContain("not a plain file");
    }
    const elsewhere = await openAgentFile("/srv/none/x", { ...limits, roots: [root, "/srv/none"] }, NEVER);
    expect(elsewhere).toMatchObject({ ok: false, because: "There is no such file.", about: null });
  });
});

describe("the size of a picture", () => {
  /** The bytes of a header with these fields, each at its place. */
  function header(bytes: number, fields: (buffer: Buffer) => void): Uint8Array {
    const buffer = Buffer.alloc(bytes);
    fields(buffer);
    return buffer;
  }
  const webp = (kind: string, fields: (buffer: Buffer) => void): Uint8Array =>
    header(32, (buffer) => {
      buffer.write(`RIFF....WEBP${kind}`, "latin1");
      fields(buffer);
    });
  const LARGEST = { width: 0x4000, height: 0x4000 };

  test.each([
    ["image/png", header(24, (b) => (b.writeUInt32BE(70_000, 16), b.writeUInt32BE(3, 20))), 70_000, 3],
    ["image/gif", header(10, (b) => (b.writeUInt16LE(300, 6), b.writeUInt16LE(5, 8))), 300, 5],
    ["image/bmp", header(26, (b) => (b.writeInt32LE(300, 18), b.writeInt32LE(-7, 22))), 300, 7],
    ["image/webp", webp("VP8X", (b) => (b.writeUIntLE(299, 24, 3), b.writeUIntLE(69_999, 27, 3))), 300, 70_000],
    ["image/webp", webp("VP8 ", (b) => (b.writeUInt16LE(0xc12c, 26), b.writeUInt16LE(0xc007, 28))), 300, 7],
    ["image/webp", webp("VP8L", (b) => b.writeUInt32LE(((6 << 14) | 299 | 0xf0000000) >>> 0, 21)), 300, 7],
    ["image/webp", webp("VP8L", (b) => b.writeUInt32LE(0x0fffffff, 21)), LARGEST.width, LARGEST.height],
  ])("of %s is read from its header", (mimeType, data, width, height) => {
    expect(pictureSize(data, mimeType)).toEqual({ width, height });
    expect(pictureSize(data.subarray(0, 9), mimeType)).toBeNull();
  });

  test("of a kind that is not known is none", () => {
    expect(
      pictureSize(
        webp("VP9 ", () => undefined),
        "image/webp",
      ),
    ).toBeNull();
    expect(pictureSize(new Uint8Array(64).fill(1), "image/tiff")).toBeNull();
  });
});

/** Attachments in the workspace of an agent that can open them. */
import { describe, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs/promises";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentId, MediaId, Principal } from "../../contracts/ids.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { createAttachedFiles, receivedMediaId } from "./attached-files.ts";

const AGENT = "default" as AgentId;
const reader = {
  principal: "web:user:ann" as Principal,
  agentId: AGENT,
  role: "owner",
} as const;
const media = { mediaId: "media_7" as MediaId, name: "../../x.sh", mimeType: "application/pdf", bytes: 3 };

async function world() {
  const home = await tempHome();
  const space = join(home.path, "space");
  await mkdir(space);
  const log = recordingLog();
  const files = createAttachedFiles({
    log,
    media: { read: async (id) => (id === media.mediaId ? Buffer.from("pdf") : null) },
    workspaceOf: async (_agent, role) => (role === "guest" ? null : space),
  });
  return { home: home.path, space, log, files, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

describe("an attachment", () => {
  test("is a private copy below the workspace, under a name of our own, the same however often it is placed", async () => {
    await using w = await world();
    expect(await w.files.place(media, reader)).toBe("attachments/media_7.pdf");
    expect(await w.files.place(media, reader)).toBe("attachments/media_7.pdf");
    const path = join(w.space, "attachments", "media_7.pdf");
    expect(await readFile(path, "utf8")).toBe("pdf");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(w.space, "attachments"))).mode & 0o777).toBe(0o700);
    expect(await readdir(w.space)).toEqual(["attachments"]);
  });

  test("is whole and nothing else, also where the agent has written more into it", async () => {
    await using w = await world();
    const path = join(w.space, "attachments", "media_7.pdf");
    await w.files.place(media, reader);
    await writeFile(path, "something longer than before");
    await w.files.place(media, reader);
    expect(await readFile(path, "utf8")).toBe("pdf");
  });

  test("of a type that is not known has an ending that nothing runs", async () => {
    await using w = await world();
    expect(await w.files.place({ ...media, mimeType: "application/x-sh" }, reader)).toBe("attachments/media_7.bin");
  });

  test("that cannot be written is in the log, and the model is told that it cannot open it", async () => {
    await using w = await world();
    await writeFile(join(w.space, "attachments"), "in the way");
    expect(await w.files.place(media, reader)).toBeNull();
    expect(w.log.lines.map(({ words }) => words)).toEqual(["attachment could not be put into the workspace"]);
  });

  test("leaves no open file behind, however often it is placed", async () => {
    await using w = await world();
    const opened: { readonly fd: number }[] = [];
    const real = { ...fs };
    const open = async (...args: Parameters<typeof fs.open>) => {
      const file = await real.open(...args);
      opened.push(file);
      return file;
    };
    using _open = spyOn(fs, "open").mockImplementation(open as typeof fs.open);
    for (let time = 0; time < 3; time++) await w.files.place(media, reader);
    expect([opened.length, ...opened.map(({ fd }) => fd)]).toEqual([3, -1, -1, -1]);
  });

  test("is not there for an agent without tools that read, nor when it is gone", async () => {
    await using w = await world();
    expect(await w.files.place(media, { ...reader, role: "guest" })).toBeNull();
    expect(await w.files.place({ ...media, mediaId: "media_8" as MediaId }, reader)).toBeNull();
    expect(await readdir(w.space)).toEqual([]);
  });

  test("is written through no link that the agent has put in its place", async () => {
    await using w = await world();
    const outside = join(w.home, "outside");
    await mkdir(outside);
    await symlink(outside, join(w.space, "attachments"));
    expect(await w.files.place(media, reader)).toBeNull();
    expect(await readdir(outside)).toEqual([]);

    await using v = await world();
    await mkdir(join(v.space, "attachments"));
    await writeFile(join(v.home, "secret"), "kept");
    await symlink(join(v.home, "secret"), join(v.space, "attachments", "media_7.pdf"));
    expect(await v.files.place(media, reader)).toBeNull();
    expect(await readFile(join(v.home, "secret"), "utf8")).toBe("kept");
  });
});

test.each([
  [["attachments", "media_7.pdf"], "media_7"],
  [["attachments", "media_7"], "media_7"],
  [["attachments", "media_7.pdf", "more"], null],
  [["attachments"], null],
  [["notes", "media_7.pdf"], null],
])("the attachment that lies at %j of a workspace is %p", (parts, mediaId) => {
  expect(receivedMediaId(parts) as string | null).toBe(mediaId);
});

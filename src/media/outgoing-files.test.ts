/** Which folders are open is settled at the start; what a file is, by its content. */
import { describe, expect, test } from "bun:test";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentId, MediaId, Principal, Role, SessionKey } from "../contracts/ids.ts";
import { personFolder } from "../kit/person-folder.ts";
import { NO_MASK } from "../kit/secret.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { realStore } from "../testing/real-store.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { tempHome } from "../testing/temp-home.ts";
import { fileType, mediaKind } from "./file-type.ts";
import { openOutgoingFiles, sourceOf } from "./outgoing-files.ts";

const AGENT = "default" as AgentId;
const OWNER = "operator" as Principal;
const HERE = "agent:default:app:group:42" as SessionKey;
const ALL = { owner: "workspace", member: "workspace", guest: "workspace" } as const;
const NEVER = new AbortController().signal;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);

async function world() {
  const clock = createFakeClock();
  await using stack = new AsyncDisposableStack();
  const real = stack.use(await realStore(clock));
  const folder = stack.use(await tempHome());
  const [space, share, other] = ["space", "share", "other"].map((name) => join(folder.path, name));
  for (const path of [space, share, other]) await mkdir(path ?? "");
  const log = recordingLog();
  const deps = {
    clock,
    ids: createSeqIds(),
    log,
    mask: NO_MASK,
    media: real.store.media,
    conversationFiles: real.store.conversationFiles,
  };
  const rest = stack.move();
  return {
    ...real,
    store: real.store,
    space: space ?? "",
    share: share ?? "",
    other: other ?? "",
    folder: folder.path,
    deps,
    log,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

describe("a file to be sent", () => {
  test("is copied into the media store, for its owner, under its own name and the type of its content", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "owner" as const, folder: w.space, personal: false }],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    await writeFile(join(w.space, "chart.txt"), PNG);
    const taken = await files.take(
      { path: "chart.txt", agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE },
      NEVER,
    );
    const media = { mediaId: "media_000001", name: "chart.txt", mimeType: "image/png", bytes: PNG.byteLength };
    expect(taken).toEqual({ kind: "taken", media } as never);
    const asDocument = { path: "chart.txt", agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE } as const;
    expect(await files.take({ ...asDocument, as: "document" }, NEVER)).toMatchObject({
      kind: "taken",
      media: { as: "document" },
    });
    await writeFile(join(w.space, "chart.txt"), "changed afterwards");
    expect(await w.store.media.find("media_000001" as never)).toEqual({ ...media, owner: OWNER } as never);
    expect(Buffer.from((await w.store.media.read("media_000001" as never)) ?? []).equals(PNG)).toBe(true);
  });

  test("is not opened for a call that was cancelled", async () => {
    await using w = await world();
    const workspaces = [{ agentId: AGENT, role: "owner" as const, folder: w.space, personal: false }];
    const limits = { stateDirectory: w.home, maxBytes: 1_000, uid: process.getuid?.() ?? 0 };
    const files = await openOutgoingFiles(w.deps, { workspaces, reach: ALL, roots: [], ...limits });
    await writeFile(join(w.space, "chart.txt"), PNG);
    const wanted = { path: "chart.txt", agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE } as const;
    await expect(files.take(wanted, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
    expect(await w.store.media.find("media_000001" as never)).toBeNull();
  });

  test("follows new settings from the next file on: a right that was taken away, a smaller size, an agent that was added", async () => {
    await using w = await world();
    const agent = (id: AgentId) => ({ agentId: id, role: "guest" as const, folder: w.space, personal: false });
    const options = {
      workspaces: [agent(AGENT)],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    await writeFile(join(w.space, "a.txt"), "text");
    const kindOf = async (agentId = AGENT) =>
      (await files.take({ path: "a.txt", agentId, role: "guest", owner: OWNER, sessionKey: HERE }, NEVER)).kind;
    const twin = "twin" as AgentId;
    expect([await kindOf(), await kindOf(twin)]).toEqual(["taken", "refused"]);
    await files.apply({ ...options, workspaces: [agent(AGENT), agent(twin)] });
    expect(await kindOf(twin)).toBe("taken");
    await files.apply({ ...options, maxBytes: 3 });
    expect(await kindOf()).toBe("refused");
    await files.apply({ ...options, reach: { ...ALL, guest: "nothing" } });
    expect(await kindOf()).toBe("refused");
    await files.apply(options);
    expect(await kindOf()).toBe("taken");
  });

  test("stays within the folder that was looked at first, when an agent has put a link in its place before a reload", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "owner" as const, folder: w.space, personal: false }],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    await writeFile(join(w.other, "a.txt"), "text");
    await rename(w.space, join(w.folder, "moved"));
    await symlink(w.other, w.space);
    await files.apply(options);
    const wanted = {
      path: join(w.other, "a.txt"),
      agentId: AGENT,
      role: "owner",
      owner: OWNER,
      sessionKey: HERE,
    } as const;
    expect((await files.take(wanted, NEVER)).kind).toBe("refused");
  });

  test("comes from the workspace of its own agent or from a root, from nowhere else, and no folder is added later", async () => {
    await using w = await world();
    const uid = process.getuid?.() ?? 0;
    await symlink(w.other, join(w.folder, "later"));
    const options = {
      workspaces: [
        { agentId: AGENT, role: "owner" as const, folder: w.space, personal: false },
        { agentId: AGENT, role: "guest" as const, folder: w.other, personal: false },
        { agentId: "twin" as AgentId, role: "owner" as const, folder: w.other, personal: false },
      ],
      reach: ALL,
      roots: [w.share, join(w.folder, "not-there")],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid,
    };
    const files = await openOutgoingFiles(w.deps, options);
    for (const folder of [w.space, w.share, w.other]) await writeFile(join(folder, "a.txt"), "text");
    await mkdir(join(w.folder, "not-there"));
    await writeFile(join(w.folder, "not-there", "a.txt"), "text");
    const kindOf = async (path: string, agentId: string, role: Role = "owner") =>
      (await files.take({ path, agentId: agentId as AgentId, role, owner: OWNER, sessionKey: HERE }, NEVER)).kind;
    expect(await kindOf("a.txt", "default")).toBe("taken");
    expect(await kindOf(join(w.share, "a.txt"), "default")).toBe("taken");
    expect(await kindOf(join(w.other, "a.txt"), "default")).toBe("refused");
    expect(await kindOf(join(w.other, "a.txt"), "twin")).toBe("taken");
    expect(await kindOf(join(w.other, "a.txt"), "default", "guest")).toBe("taken");
    expect(await kindOf(join(w.space, "a.txt"), "default", "guest")).toBe("refused");
    expect(await kindOf("a.txt", "added-later")).toBe("refused");
    expect(await kindOf(join(w.folder, "not-there", "a.txt"), "default")).toBe("refused");
  });

  test("comes from a person's own folder where each person has one, and never from that of another person", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "member" as const, folder: w.space, personal: true }],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    const [ann, bob] = ["app:user:ann", "app:user:bob"] as const;
    for (const folder of [w.space, personFolder(w.space, ann), personFolder(w.space, bob)]) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "a.txt"), folder);
    }
    const textOf = async (path: string): Promise<string> => {
      const asked = { path, agentId: AGENT, role: "member", owner: ann as Principal, sessionKey: HERE } as const;
      const taken = await files.take(asked, NEVER);
      if (taken.kind !== "taken") return taken.kind;
      return Buffer.from((await w.store.media.read(taken.media.mediaId)) ?? []).toString();
    };
    expect(await textOf("a.txt")).toBe(personFolder(w.space, ann));
    for (const folder of [w.space, personFolder(w.space, bob)])
      expect(await textOf(join(folder, "a.txt"))).toBe("refused");
  });

  test("never comes from a folder that holds the state directory", async () => {
    await using w = await world();
    await writeFile(join(w.home, "words.txt"), "a secret");
    const options = {
      workspaces: [{ agentId: AGENT, role: "owner" as const, folder: w.home, personal: false }],
      reach: ALL,
      roots: ["/", join(w.home, "..")],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    for (const path of ["words.txt", join(w.home, "words.txt")])
      expect(
        (await files.take({ path, agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE }, NEVER)).kind,
      ).toBe("refused");
    expect(w.log.lines.filter(({ words }) => words.includes("contains the state directory"))).toHaveLength(3);
  });

  test("that is not what it was said to be is refused, and anything may be sent as a document", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "owner" as const, folder: w.space, personal: false }],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const files = await openOutgoingFiles(w.deps, options);
    await writeFile(join(w.space, "fake.png"), "<svg onload=alert(1)></svg>");
    await writeFile(join(w.space, "real.png"), PNG);
    const take = (as: "photo" | "audio" | "document", path = "fake.png") =>
      files.take({ path, agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE, as }, NEVER);
    expect(await take("photo", "real.png")).toMatchObject({ kind: "taken", media: { as: "photo" } });
    expect(await take("audio", "real.png")).toMatchObject({ kind: "refused" });
    expect(await take("photo")).toMatchObject({ kind: "refused", because: expect.stringContaining("not a picture") });
    expect(await take("document")).toMatchObject({
      kind: "taken",
      media: { mimeType: "image/svg+xml", as: "document" },
    });
  });
});

describe("a secret of the gateway", () => {
  test("is not in the name of a file that is sent, and a readable file that holds one is not sent", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "owner" as const, folder: w.space, personal: false }],
      reach: ALL,
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    const mask = { ...NO_MASK, text: (text: string) => text.replaceAll("operator-value-42", "[redacted]") };
    const files = await openOutgoingFiles({ ...w.deps, mask }, options);
    const contents = {
      "operator-value-42.png": PNG,
      "a.txt": "x operator-value-42",
      "b.json": '{"k":"operator-value-42"}',
      "d.svg": '<svg xmlns="http://www.w3.org/2000/svg"><text>operator-value-42</text></svg>',
      "c.txt": "fine",
    };
    for (const [name, data] of Object.entries(contents)) await writeFile(join(w.space, name), data);
    const take = (path: string) =>
      files.take({ path, agentId: AGENT, role: "owner", owner: OWNER, sessionKey: HERE }, NEVER);
    expect(await take("operator-value-42.png")).toMatchObject({ kind: "taken", media: { name: "[redacted].png" } });
    for (const path of ["a.txt", "b.json", "d.svg"])
      expect(await take(path)).toEqual({ kind: "refused", because: expect.stringContaining("a token or a key") });
    expect(await take("c.txt")).toMatchObject({ kind: "taken" });
  });
});

describe("a guest's file", () => {
  const at = 5_000;
  /** The conversation HERE has received `media_in`, and its tools were at work when a file was born at a time in `madeAt`. */
  const conversationFiles = (madeAt: (born: number) => boolean) => ({
    isReceived: async (sessionKey: SessionKey, mediaId: MediaId) => sessionKey === HERE && mediaId === "media_in",
    ranToolAt: async (sessionKey: SessionKey, born: number) => sessionKey === HERE && madeAt(born),
  });

  test("is sent when it was made or received in that conversation, and otherwise as if it were not there", async () => {
    await using w = await world();
    const workspaces = (["owner", "guest"] as const).map((role) => ({
      agentId: AGENT,
      role,
      folder: w.space,
      personal: false,
    }));
    const options = {
      workspaces,
      roots: [w.share],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
      reach: { ...ALL, guest: "conversation" },
    } as const;
    await mkdir(join(w.space, "attachments"));
    for (const name of ["attachments/media_in.txt", "attachments/media_other.txt", "chart.txt", ".env", "in.pem"])
      await writeFile(join(w.space, name), "text");
    await writeFile(join(w.share, "open.txt"), "text");
    for (const folder of [join(w.share, "attachments"), join(w.space, "attachments", "media_in")]) await mkdir(folder);
    await writeFile(join(w.share, "attachments", "media_in.txt"), "text");
    await writeFile(join(w.space, "attachments", "media_in", "other.txt"), "text");
    await writeFile(join(w.space, "large.txt"), "x".repeat(1_001));
    const take = async (
      path: string,
      madeAt: (born: number) => boolean,
      more: Partial<{ role: Role; key: string }> = {},
    ) => {
      const files = await openOutgoingFiles({ ...w.deps, conversationFiles: conversationFiles(madeAt) }, options);
      const { role = "guest", key = HERE } = more;
      const wanted = { path, agentId: AGENT, role, owner: OWNER, sessionKey: key as SessionKey };
      const taken = await files.take(wanted, NEVER);
      return taken.kind === "taken" ? "taken" : taken.because;
    };
    const [never, always] = [() => false, () => true];
    const notHere = expect.stringContaining("made or received in this conversation");
    expect(await take("attachments/media_in.txt", never)).toBe("taken");
    expect(await take("chart.txt", (born) => born > at)).toBe("taken");
    expect(await take("attachments/media_in.txt", never, { key: "agent:default:app:group:7" })).toEqual(notHere);
    expect(await take("attachments/media_other.txt", always)).toEqual(notHere);
    expect(await take("chart.txt", never)).toEqual(notHere);
    expect(await take("chart.txt", always, { key: "agent:default:app:group:7" })).toEqual(notHere);
    expect(await take(join(w.share, "open.txt"), never)).toEqual(notHere);
    expect(await take(join(w.share, "attachments", "media_in.txt"), never)).toEqual(notHere);
    expect(await take("attachments/media_in/other.txt", never)).toEqual(notHere);
    expect(await take("not-there.txt", always)).toEqual(notHere);
    expect(await take("large.txt", always)).toContain("larger than");
    expect(await take("chart.txt", never, { role: "owner" })).toBe("taken");
    for (const role of ["owner", "guest"] as const)
      for (const path of [".env", "in.pem"]) expect(await take(path, always, { role })).not.toBe("taken");
  });

  test("does not count as made there when the file system does not say when it was born", async () => {
    const deps = { conversationFiles: conversationFiles(() => true) };
    const file = { parts: ["chart.png"], isInBase: true };
    expect(await sourceOf(deps, { ...file, bornAt: 0 }, HERE)).toBe("elsewhere");
    expect(await sourceOf(deps, { ...file, bornAt: 1 }, HERE)).toBe("made");
  });

  test("is refused for a role that can be sent nothing", async () => {
    await using w = await world();
    const options = {
      workspaces: [{ agentId: AGENT, role: "guest" as const, folder: w.space, personal: false }],
      reach: { ...ALL, guest: "nothing" as const },
      roots: [],
      stateDirectory: w.home,
      maxBytes: 1_000,
      uid: process.getuid?.() ?? 0,
    };
    await writeFile(join(w.space, "chart.txt"), "text");
    const files = await openOutgoingFiles({ ...w.deps, conversationFiles: conversationFiles(() => true) }, options);
    const wanted = { path: "chart.txt", agentId: AGENT, role: "guest" as const, owner: OWNER, sessionKey: HERE };
    expect(await files.take(wanted, NEVER)).toEqual({
      kind: "refused",
      because: expect.stringContaining("cannot be sent"),
    });
  });
});

describe("the type of a file", () => {
  test.each([
    [PNG, "image/png", "photo"],
    [Buffer.from("ffd8ffe0", "hex"), "image/jpeg", "photo"],
    [Buffer.from("GIF89a…"), "image/gif", "photo"],
    [Buffer.from("RIFF0000WEBPVP8 "), "image/webp", "photo"],
    [Buffer.from("XXXX0000WEBPVP8 "), "text/plain", "document"],
    [Buffer.from("BMW is a car, not a picture, and this is text"), "text/plain", "document"],
    [Buffer.from("RIFF0000WAVEfmt "), "audio/wav", "audio"],
    [Buffer.from("ID3\x04…"), "audio/mpeg", "audio"],
    [Buffer.from("\0\0\0\x20ftypisom"), "video/mp4", "video"],
    [Buffer.from("\0\0\0\x20ftypM4A "), "audio/mp4", "audio"],
    [Buffer.from("%PDF-1.7"), "application/pdf", "document"],
    [Buffer.from("PK\x03\x04"), "application/zip", "document"],
    [Buffer.from('<?xml version="1.0"?><svg xmlns="x">'), "image/svg+xml", "document"],
    [Buffer.from("  <!DOCTYPE html><p>"), "text/html", "document"],
    [Buffer.from("<script>alert(1)</script>"), "text/html", "document"],
    [Buffer.from('{"a":1}'), "application/json", "document"],
    [Buffer.from("plain words, größer"), "text/plain", "document"],
    [Buffer.from("00ff00fe", "hex"), "application/octet-stream", "document"],
  ])("%# is read from its content: %s %s", (data, mimeType, kind) => {
    expect([fileType(data), mediaKind(fileType(data))]).toEqual([mimeType, kind as never]);
  });
});

/** What the small tables promise: lives, media, sign-ins. */
import { expect, test } from "bun:test";
import type { MediaId, Principal } from "../../../contracts/ids.ts";
import { intent, OPERATOR, row, sessionKey, type StoreWorld, turn } from "./store-world.ts";

export function smallTablePromises(open: () => Promise<StoreWorld>): void {
  test("each opening counts one more life", async () => {
    await using world = await open();
    const { epoch } = await world.reopen();
    expect(epoch).toBeGreaterThan(world.store.epoch);
    expect((await world.reopen()).epoch).toBe(epoch + 1);
  });

  test("a media file comes back as it was, under a name that is safe to show", async () => {
    await using world = await open();
    const mediaId = "media_1" as MediaId;
    const data = new Uint8Array([1, 2, 3]);
    const file = { mediaId, owner: OPERATOR, name: "../../etc/\u202ecat.png", mimeType: "image/png", data, at: 1 };
    const ref = { mediaId, name: "cat.png", mimeType: "image/png", bytes: 3 };
    expect(await world.store.media.put(file)).toEqual(ref);
    await expect(world.store.media.put(file)).rejects.toMatchObject({ code: "conflict" });
    const again = await world.reopen();
    expect(await again.media.find(mediaId)).toEqual({ ...ref, owner: OPERATOR });
    expect(new Uint8Array((await again.media.read(mediaId)) ?? [])).toEqual(data);
    const later = { ...file, mediaId: "media_2" as MediaId, at: 2 };
    await again.media.put(later);
    expect(await again.media.list(OPERATOR, 5)).toEqual([{ ...ref, mediaId: later.mediaId }, ref]);
    expect(await again.media.list("stranger" as Principal, 5)).toEqual([]);
  });

  test("tools of a session come back in their order, and go one by one or when they are old", async () => {
    await using world = await open();
    const [here, there] = [sessionKey("a"), sessionKey("b")];
    const [mail, maps, music] = ["mail", "maps", "music"].map((tool, n) => ({ tool, position: 9 - n, at: n }));
    if (!mail || !maps || !music) throw new Error("three tools are needed");
    await world.store.sessionTools.save(here, { on: [mail, maps, music], off: [] });
    await world.store.sessionTools.save(there, { on: [mail], off: ["maps"] });
    await world.store.sessionTools.save(here, { on: [{ ...mail, at: 5 }], off: ["maps", "no such tool"] });
    const { sessionTools } = await world.reopen();
    expect(await sessionTools.list(here)).toEqual([music, { ...mail, at: 5 }]);
    expect([await sessionTools.prune(3), await sessionTools.list(here), await sessionTools.list(there)]).toEqual([
      2,
      [{ ...mail, at: 5 }],
      [],
    ]);
  });

  test("a media id that could be a path leads nowhere", async () => {
    await using world = await open();
    for (const id of ["../gateway.db", "a/b", "", ".", "a.b", "x".repeat(200), "a\0"]) {
      const mediaId = id as MediaId;
      expect(await world.store.media.find(mediaId)).toBeNull();
      expect(await world.store.media.read(mediaId)).toBeNull();
      const file = { mediaId, owner: OPERATOR, name: "n", mimeType: "t", data: new Uint8Array(), at: 1 };
      await expect(world.store.media.put(file)).rejects.toMatchObject({ code: "internal" });
    }
  });

  test("a file is known as received in the conversation of its message, and in no other", async () => {
    await using world = await open();
    const { conversationFiles, inbox, turns } = world.store;
    const file = { mediaId: "media_12" as MediaId, name: "cat.png", mimeType: "image/png", bytes: 3 };
    await inbox.accept(row("in1", "a", { attachments: [file] }));
    await inbox.accept(row("in2", "b"));
    await turns.begin(turn("t1", "a", ["in1"]));
    await turns.begin(turn("t2", "b", ["in2"]));
    expect(await conversationFiles.isReceived(sessionKey("a"), file.mediaId)).toBe(true);
    expect(await conversationFiles.isReceived(sessionKey("b"), file.mediaId)).toBe(false);
    for (const part of ["media_1", "cat", "image", ""])
      expect(await conversationFiles.isReceived(sessionKey("a"), part as MediaId)).toBe(false);
  });

  test("a tool of a conversation counts as running between its start and its end, and a refused one never", async () => {
    await using world = await open();
    const { conversationFiles, inbox, turns, toolCalls } = world.store;
    await inbox.accept(row("in1", "a"));
    await turns.begin(turn("t1", "a", ["in1"]));
    const ran = (at: number, session = "a") => conversationFiles.ranToolAt(sessionKey(session), at);
    await toolCalls.refuse({ ...intent("c0", "t1", true), at: 100 }, { status: "blocked", output: "no" });
    await toolCalls.intend({ ...intent("c1", "t1", true), tool: "read", at: 100 });
    await toolCalls.intend({ ...intent("c2", "t1", true), waiting: true, at: 100 });
    expect(await ran(1_000)).toBe(false);
    await toolCalls.intend({ ...intent("c3", "t1", true), at: 2_000 });
    expect([await ran(1_900), await ran(2_000), await ran(9_000), await ran(2_000, "b")]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    await toolCalls.settle("c3", { status: "success", output: "", ms: 500 });
    expect([await ran(1_900), await ran(2_000), await ran(2_500), await ran(2_501)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    await toolCalls.intend({ ...intent("c4", "t1", true), at: 5_000 });
    const again = await world.reopen(); // nobody knows when the last one ended
    expect(await again.conversationFiles.ranToolAt(sessionKey("a"), 6_000)).toBe(false);
  });

  test("a sign-in is found until it is removed, and expired ones go when a new one comes", async () => {
    await using world = await open();
    const { signIns } = world.store;
    const times = { createdAt: 10, expiresAt: 20 };
    const signIn = { digest: "d1", principal: OPERATOR, authDigest: "a", browser: "Firefox on Windows", ...times };
    await signIns.put(signIn);
    expect(await signIns.find("d1")).toEqual({ principal: OPERATOR, expiresAt: 20, authDigest: "a" });
    await signIns.put({ ...signIn, digest: "d2", createdAt: 20, expiresAt: 30 });
    expect(await signIns.find("d1")).toBeNull();
    expect(await signIns.list(29)).toEqual([{ ...signIn, digest: "d2", createdAt: 20, expiresAt: 30 }]);
    expect(await signIns.list(30)).toEqual([]);
    await signIns.remove("d2");
    expect(await signIns.find("d2")).toBeNull();
  });
}

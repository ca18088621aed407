/** What the small tables promise: lives, media, sign-ins. */
import { expect, test } from "bun:test";
import type { MediaId } from "../../../contracts/ids.ts";
import { OPERATOR, type StoreWorld } from "./store-world.ts";

export function smallTablePromises(open: () => Promise<StoreWorld>): void {
  test("each opening counts one more life", async () => {
    await using world = await open();
    expect(world.store.epoch).toBe(1);
    expect((await world.reopen()).epoch).toBe(2);
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

  test("a sign-in is found until it is removed, and expired ones go when a new one comes", async () => {
    await using world = await open();
    const { signIns } = world.store;
    const signIn = { digest: "d1", principal: OPERATOR, createdAt: 10, expiresAt: 20, authDigest: "a" };
    await signIns.put(signIn);
    expect(await signIns.find("d1")).toEqual({ principal: OPERATOR, expiresAt: 20, authDigest: "a" });
    await signIns.put({ ...signIn, digest: "d2", createdAt: 20, expiresAt: 30 });
    expect(await signIns.find("d1")).toBeNull();
    await signIns.remove("d2");
    expect(await signIns.find("d2")).toBeNull();
  });
}

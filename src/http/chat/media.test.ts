import { describe, expect, test } from "bun:test";
import type { Principal } from "../../contracts/ids.ts";
import { type HttpWorld, PNG, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { openWs } from "../../testing/http/ws-client.ts";

const upload = (world: HttpWorld, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  world.call("/api/media", { method: "POST", body, headers });
const stored = async (world: HttpWorld) =>
  (await (await upload(world, PNG)).json()) as { mediaId: string; url: string };
const statusOf = async (world: HttpWorld, path: string) => (await fetch(world.url(path))).status;

describe("an upload", () => {
  test("is known by its bytes, whatever it is called", async () => {
    await using world = startHttpWorld();
    const response = await upload(world, PNG, {
      "x-filename": encodeURIComponent("../../ä b.html"),
      "content-type": "text/html",
    });
    const { mediaId } = (await response.json()) as { mediaId: string };
    expect(world.media.get(mediaId)).toMatchObject({
      mimeType: "image/png",
      name: ".._.._ä b.html",
      bytes: PNG.length,
    });
  });

  test("may be any file; what is not a picture is only ever offered for download", async () => {
    await using world = startHttpWorld();
    for (const text of ["<svg xmlns='http://www.w3.org/2000/svg'/>", "<html><script>", "%PDF-1.7", "RIFF1234WAVE"]) {
      const response = await upload(world, new TextEncoder().encode(text), { "content-type": "image/png" });
      const { url } = (await response.json()) as { url: string };
      const served = await fetch(world.url(url));
      expect(served.headers.get("content-type")).toBe("application/octet-stream");
      expect(served.headers.get("content-disposition")).toStartWith("attachment;");
      expect(await served.text()).toBe(text);
    }
  });

  test("that is not taken in is refused with the sentence that says why", async () => {
    await using world = startHttpWorld();
    const response = await upload(world, new Uint8Array());
    expect(response.status).toBe(422);
    expect(((await response.json()) as { error: object }).error).toMatchObject({
      code: "file_refused",
      message: expect.stringContaining("it is empty"),
    });
    expect(world.media.size).toBe(0);
  });

  test("comes back with the words of a recording, where they were asked for and somebody listens", async () => {
    await using world = startHttpWorld();
    expect(await (await upload(world, PNG, { "x-transcribe": "1" })).json()).not.toHaveProperty("words");
    const heard: string[] = [];
    const { files } = world.deps.messages;
    files.transcribe = async ({ name }) => (heard.push(name), { kind: "words", text: "water the plants" });
    expect(await (await upload(world, PNG)).json()).not.toHaveProperty("words");
    expect(heard).toEqual([]);
    expect(await (await upload(world, PNG, { "x-transcribe": "1" })).json()).toMatchObject({
      mediaId: expect.any(String),
      words: "water the plants",
    });
    files.transcribe = async () => ({ kind: "failed", say: "It is busy." });
    expect(await (await upload(world, PNG, { "x-transcribe": "1" })).json()).toMatchObject({ trouble: "It is busy." });
  });

  test("without a readable name gets a plain one", async () => {
    await using world = startHttpWorld();
    for (const name of ["%zz", "%0a%00", ""]) await upload(world, PNG, { "x-filename": name });
    expect([...world.media.values()].map((file) => file.name)).toEqual(["file", "__", "file"]);
  });
});

describe("a media link", () => {
  test("serves the picture so that a browser can do nothing but show it", async () => {
    await using world = startHttpWorld();
    const { url } = await stored(world);
    const response = await fetch(world.url(url));
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(PNG);
    const shown = Object.fromEntries(
      ["content-type", "content-disposition", "content-security-policy", "x-content-type-options", "cache-control"].map(
        (name) => [name, response.headers.get(name)],
      ),
    );
    expect(shown).toEqual({
      "content-type": "image/png",
      "content-disposition": "inline; filename*=UTF-8''file",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=3600",
    });
  });

  test("that was changed in any way is refused", async () => {
    await using world = startHttpWorld();
    const { url, mediaId } = await stored(world);
    const other = await stored(world);
    const { exp, sig } = Object.fromEntries(new URL(world.url(url)).searchParams) as { exp: string; sig: string };
    const flipped = sig.startsWith("A") ? `B${sig.slice(1)}` : `A${sig.slice(1)}`;
    const tampered = [
      `/media/${mediaId}`,
      `/media/${mediaId}?exp=${exp}`,
      `/media/${mediaId}?exp=${exp}&sig=`,
      `/media/${mediaId}?exp=${exp}&sig=${flipped}`,
      `/media/${mediaId}?exp=${exp}&sig=${sig}=`,
      `/media/${mediaId}?exp=${Number(exp) + 1}&sig=${sig}`,
      `/media/${mediaId}?exp=0${exp}&sig=${sig}`,
      `/media/${mediaId}?exp=${exp}&exp=${exp}&sig=${sig}`,
      `/media/${mediaId}?exp=${exp}&sig=${sig}&x=1`,
      `/media/${mediaId}?exp=${exp}&sig=${sig}&disposition=attachment`,
      `/media/${other.mediaId}?exp=${exp}&sig=${sig}`,
    ];
    for (const path of tampered) expect([path, await statusOf(world, path)]).toEqual([path, 401]);
    expect(await statusOf(world, url)).toBe(200);
  });

  test("works for at most an hour", async () => {
    await using world = startHttpWorld();
    const { url } = await stored(world);
    await world.clock.advance(49 * 60_000);
    expect(await statusOf(world, url)).toBe(200);
    await world.clock.advance(11 * 60_000);
    expect(await statusOf(world, url)).toBe(401);
  });

  test("is not opened by a sign-in alone, and is worth nothing elsewhere", async () => {
    await using world = startHttpWorld();
    const { mediaId, url } = await stored(world);
    expect((await world.call(`/media/${mediaId}`)).status).toBe(401);
    expect(await statusOf(world, `/api/status?${url.split("?")[1]}`)).toBe(401);
  });
});

describe("attachments", () => {
  test("come inline or by id, and are stored once accepted", async () => {
    await using world = startHttpWorld();
    world.onTaken = (id) => world.endTurn(id);
    const { mediaId } = await stored(world);
    const inline = { name: "b.png", mimeType: "image/jpeg", data: Buffer.from(PNG).toString("base64") };
    const response = await world.postJson("/api/chat", { text: "", attachments: [{ mediaId }, inline] });
    expect(response.status).toBe(200);
    expect(world.received[0]?.attachments).toMatchObject([
      { mediaId, mimeType: "image/png" },
      { name: "b.png", mimeType: "image/png", bytes: PNG.length },
    ]);
  });

  test("that are unknown, too many, empty or too large are refused", async () => {
    await using world = startHttpWorld();
    const inline = (data: string) => ({ name: "a", mimeType: "image/png", data });
    const cases: [unknown[], number][] = [
      [[{ mediaId: "media_unknown" }], 422],
      [[inline("not base64!")], 422],
      [[inline("")], 422],
      [[{ ...inline("AA=="), path: "/etc/passwd" }], 422],
      [Array.from({ length: 9 }, () => inline("AA==")), 422],
      [[inline(Buffer.concat([PNG, new Uint8Array(256 * 1024)]).toString("base64"))], 413],
    ];
    for (const [attachments, status] of cases) {
      expect((await world.postJson("/api/chat", { text: "hi", attachments })).status).toBe(status);
    }
    expect(world.received).toEqual([]);
  });
});

test("a file of somebody else cannot be attached to a message, and is answered like one that is not there", async () => {
  await using world = startHttpWorld();
  const { mediaId } = await stored(world);
  const params = (id: string, clientId: string) => ({
    session: "agent:default:webchat:dm:abc",
    text: "look",
    clientId,
    attachments: [{ mediaId: id }],
  });
  using client = await openWs(world);
  await client.ask("chat.send", params(mediaId, "c1"));
  const own = world.media.get(mediaId);
  if (own) world.media.set("media_theirs", { ...own, owner: "telegram:user:9" as Principal });
  const refused = [];
  for (const id of ["media_theirs", "media_nowhere"])
    refused.push(
      await client
        .ask("chat.send", params(id, `c-${id}`))
        .catch((error: unknown) => String(error).replace(/"requestId":"[^"]*"/, "")),
    );
  expect(refused[0]).toContain("invalid_params");
  expect(refused[0]).toBe(refused[1] as never);
  expect(world.received).toHaveLength(1);
});

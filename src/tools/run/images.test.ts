/** Images on their way to a model: known by their bytes, small enough, and no canvas is drawn that is larger than anyone needs. */
import { expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { createImageCheck } from "./images.ts";

const check = createImageCheck();

/** A picture of one grey, as large as it says it is; `rows` fewer than `height` make it a lie. */
function png(width: number, height: number, rows = height): Uint8Array {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8); // 8 bits of grey
  const pixels = deflateSync(Buffer.alloc((width + 1) * rows), { level: 9 });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

const image = (bytes: Uint8Array, mimeType = "image/png") =>
  ({ type: "image", data: Buffer.from(bytes).toString("base64"), mimeType }) as const;

test("a small image passes as it is, under the type that its bytes have", async () => {
  const small = image(png(10, 10), "text/html");
  expect(await check(small)).toEqual({ ...small, mimeType: "image/png" });
});

test("an image with a long side is made smaller and keeps its shape", async () => {
  const made = await check(image(png(4_000, 1_000)));
  const bytes = made.type === "image" ? Buffer.from(made.data, "base64") : Buffer.alloc(0);
  const { width, height } = await new Bun.Image(bytes).metadata();
  expect([width, height]).toEqual([2_000, 500]);
});

test("a canvas of more than 40 million pixels is refused by its header, whatever is behind it", async () => {
  const before = process.memoryUsage().rss;
  for (const bomb of [png(60_000, 60_000, 1), png(20_000, 20_000, 20), png(7_000, 7_000)]) {
    expect(bomb.length).toBeLessThan(100_000);
    expect(await check(image(bomb))).toEqual({
      type: "text",
      text: "[image left out: it has more than 40 million pixels]",
    });
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
});

test.each([
  ["not base64", { type: "image", data: "<svg/>", mimeType: "image/svg+xml" }, "it is not base64"],
  ["text", image(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/svg+xml"), "it cannot be read"],
  ["nothing", image(new Uint8Array(), "image/png"), "it cannot be read"],
  [
    "too many bytes",
    { type: "image", data: "A".repeat(30_000_000), mimeType: "image/png" },
    "it is larger than 20 MiB",
  ],
] as const)("what is %s is left out with a word why", async (_what, given, because) => {
  expect(await check(given)).toEqual({ type: "text", text: `[image left out: ${because}]` });
});

test("a result has eight images at most, and its record holds none", async () => {
  const picture = image(png(4, 4));
  const { call, last } = toolWorld([
    tool(async () => ({ content: [...says("look").content, ...Array<typeof picture>(9).fill(picture)] })),
  ]);
  const outcome = await call({ text: "x" });
  const content = outcome.kind === "ok" ? outcome.result.content : [];
  expect(content.filter(({ type }) => type === "image").length).toBe(8);
  expect(content.at(-1)).toEqual({ type: "text", text: "[image left out: more than 8 images]" });
  expect(last()?.end?.output).toContain("look\n[image image/png]");
});

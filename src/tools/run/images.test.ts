/** Images on their way to a model: known by their bytes, small enough, and no canvas is drawn that is larger than anyone needs. */
import { expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { says, tool, toolWorld } from "../../testing/tools/tool-world.ts";
import { createImageCheck } from "./images.ts";

const check = createImageCheck(() => ({ maxImageMb: 5 }));

/** A picture of one grey, as large as it says it is; `rows` fewer than `height` make it a lie. */
function png(width: number, height: number, rows = height, grey = Buffer.alloc((width + 1) * rows)): Uint8Array {
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
  const pixels = deflateSync(grey, { level: 9 });
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

/** Noise does not compress: a picture of it has about as many bytes as it has pixels. */
function noise(side: number): Uint8Array {
  const rows = Buffer.from(
    Array.from({ length: (side + 1) * side }, (_, at) => (at % (side + 1) === 0 ? 0 : crc32(String(at)) % 251)),
  );
  return png(side, side, side, rows);
}

test("an image of too many bytes is made a JPEG that fits, and left out when even that is too large", async () => {
  const given = image(noise(600)); // 360 kB
  expect(await createImageCheck(() => ({ maxImageMb: 0.3 }))(given)).toMatchObject({ mimeType: "image/jpeg" });
  expect(await createImageCheck(() => ({ maxImageMb: 0.01 }))(given)).toEqual({
    type: "text",
    text: "[image left out: it is larger than 0.01 MiB]",
  });
});

test("a WebP that is made smaller keeps its sharp lines as a PNG", async () => {
  const large = await new Bun.Image(Buffer.from(png(2_100, 10))).webp().bytes();
  expect(await check(image(large, "image/webp"))).toMatchObject({ type: "image", mimeType: "image/png" });
});

test("a JPEG that is made smaller stays a JPEG", async () => {
  const wide = await new Bun.Image(Buffer.from(png(3_000, 100))).jpeg({ quality: 95 }).bytes();
  expect(await check(image(wide, "image/jpeg"))).toMatchObject({ type: "image", mimeType: "image/jpeg" });
});

test("images are drawn one at a time, however many come at once", async () => {
  const begun: number[] = [];
  let ended = 0;
  const one = createImageCheck(() => (begun.push(ended), { maxImageMb: 5 }));
  await Promise.all([1, 2, 3].map(async () => (await one(image(png(10, 10))), ended++)));
  expect(begun).toEqual([0, 1, 2]);
});

test("an image as large as the limits allow passes as it is, and one of a kind that models do not read does not", async () => {
  const given = image(png(2_000, 2_000));
  expect(await check(given)).toEqual(given);
  const bitmap = Buffer.alloc(58);
  bitmap.write("BM", 0, "latin1");
  for (const [at, value] of [
    [2, 58],
    [10, 54],
    [14, 40],
    [18, 1],
    [22, 1],
    [34, 4],
  ] as const)
    bitmap.writeUInt32LE(value, at);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  expect(await check(image(bitmap, "image/bmp"))).toEqual({ type: "text", text: "[image left out: bmp is not shown]" });
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

test("a large image that is broken behind its header is left out, and those after it are read", async () => {
  const whole = png(4_000, 1_000);
  const broken = Buffer.from(whole.subarray(0, 60)); // the header, and next to nothing of the picture
  const [first, second] = await Promise.all([check(image(broken)), check(image(png(10, 10)))]);
  expect(first).toEqual({ type: "text", text: "[image left out: it cannot be read]" });
  expect(second).toMatchObject({ type: "image", mimeType: "image/png" });
});

test("every kind of picture that models read passes as it is", async () => {
  const source = () => new Bun.Image(png(10, 10));
  for (const [kind, bytes] of [
    ["png", png(10, 10)],
    ["jpeg", await source().jpeg().bytes()],
    ["webp", await source().webp().bytes()],
  ] as const)
    expect(await check(image(bytes))).toMatchObject({ type: "image", mimeType: `image/${kind}` });
});

test.each([
  [2_001, 10, [2_000, 10]],
  [10, 2_001, [10, 2_000]],
  [10, 4_000, [5, 2_000]],
])("a picture of %d by %d pixels is made smaller by its longer side", async (width, height, expected) => {
  const made = await check(image(png(width, height)));
  if (made.type !== "image") throw new Error(made.text);
  const size = await new Bun.Image(Buffer.from(made.data, "base64")).metadata();
  expect([size.width, size.height]).toEqual(expected);
});

import { expect, test } from "bun:test";
import { refuseFile, sizeText } from "./files.ts";

const MB = 1024 * 1024;
const png = { name: "a.png", type: "image/png", size: 25 * MB };

test("images of the four kinds, up to 25 MB and eight at a time, can be attached", () => {
  expect(["png", "jpeg", "gif", "webp"].map((kind) => refuseFile({ ...png, type: `image/${kind}` }, 7))).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("anything else is refused by name and reason", () => {
  expect([
    refuseFile({ ...png, type: "image/svg+xml" }, 0),
    refuseFile({ ...png, size: 25 * MB + 1 }, 0),
    refuseFile(png, 8),
  ]).toEqual([
    "“a.png” is not a PNG, JPEG, GIF or WebP image.",
    "“a.png” is larger than 25 MB.",
    "A message can carry 8 images; “a.png” was left out.",
  ]);
});

test("the size of a file is told in words people use", () => {
  expect([0, 640, 1_536, 12 * 1024, 1.25 * MB, 25 * MB].map(sizeText)).toEqual([
    "0 bytes",
    "640 bytes",
    "1.5 KB",
    "12 KB",
    "1.3 MB",
    "25 MB",
  ]);
});

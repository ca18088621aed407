import { expect, test } from "bun:test";
import { isPicture, refuseFile, sizeText } from "./files.ts";

const MB = 1024 * 1024;
const png = { name: "a.png", size: 25 * MB };

test("files of any kind, up to 25 MB and eight at a time, can be attached", () => {
  expect([png, { ...png, name: "a.pdf" }].map((file) => refuseFile(file, 7))).toEqual([null, null]);
});

test("a file that is too large, empty or one too many is refused by name and reason", () => {
  expect([
    refuseFile({ ...png, size: 25 * MB + 1 }, 0),
    refuseFile({ ...png, size: 0 }, 0),
    refuseFile(png, 8),
  ]).toEqual([
    "“a.png” is larger than 25 MB.",
    "“a.png” is empty.",
    "A message can carry 8 files; “a.png” was left out.",
  ]);
});

test("only pictures that every browser knows are shown as pictures", () => {
  expect(["image/png", "image/webp", "image/svg+xml", "text/html", ""].map(isPicture)).toEqual([
    ...[true, true, false, false, false],
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

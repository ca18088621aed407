import { expect, test } from "bun:test";
import { waterfallOf } from "./waterfall.ts";

test("the bars of a waterfall begin where their stretch began, and children stand below their parent", () => {
  const { totalMs, bars, slowest } = waterfallOf([
    { name: "queued", startMs: 0, ms: 100 },
    { name: "lease", startMs: 100, ms: 0 },
    { name: "generate", startMs: 100, ms: 800 },
    {
      name: "model:demo/large",
      startMs: 100,
      ms: 300,
      note: "answered",
      children: [{ name: "first_token", startMs: 100, ms: 50 }],
    },
    { name: "tool:bash", startMs: 400, ms: 100 },
    { name: "model:demo/large", startMs: 500, ms: 200 },
    { name: "approval:write", startMs: 700, ms: 100 },
    { name: "odd", startMs: 800, ms: 1 },
    { name: "delivery", startMs: 900, ms: 100 },
  ]);
  expect(totalMs).toBe(1_000);
  expect(bars.map(({ name, depth, offset, width }) => [name, depth, offset, width])).toEqual([
    ["Waiting in the queue", 0, 0, 10],
    ["Waiting for an agent process", 0, 10, 0.6],
    ["Answering", 0, 10, 80],
    ["Model demo/large", 0, 10, 30],
    ["Waiting for the first word", 1, 10, 5],
    ["Tool bash", 0, 40, 10],
    ["Model demo/large", 0, 50, 20],
    ["Waiting for approval of write", 0, 70, 10],
    ["odd", 0, 80, 0.6],
    ["Delivering the reply", 0, 90, 10],
  ]);
  expect(slowest).toBe("Model demo/large, 2 times");
});

test("a waterfall of nothing, or in which nothing stands out, names no slowest stretch", () => {
  expect(waterfallOf([])).toEqual({ totalMs: 0, bars: [], slowest: null });
  const even = ["queued", "lease", "tool:a"].map((name, index) => ({ name, startMs: index * 10, ms: 10 }));
  expect(waterfallOf(even).slowest).toBeNull();
  expect(waterfallOf([{ name: "tool:a", startMs: 0, ms: 0 }]).bars[0]).toMatchObject({ offset: 0, width: 0.6 });
});

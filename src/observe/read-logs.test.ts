import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "../testing/temp-home.ts";
import { readLogs } from "./read-logs.ts";

const line = (level: string, n: number, more: object = {}) =>
  `${JSON.stringify({ level, time: `2026-01-31T12:00:0${n}.000Z`, msg: `line ${n}`, ...more })}\n`;

test("the newest log lines are read across files, by level, by module and by words in their fields", async () => {
  await using home = await tempHome();
  await writeFile(
    join(home.path, "gateway-2026-01-30.1.log"),
    line("info", 1) + line("error", 2, { requestId: "req-7", module: "http" }),
  );
  await writeFile(
    join(home.path, "gateway-2026-01-31.1.log"),
    `${line("warn", 3, { module: "tools" })}torn {\n${line("info", 4)}`,
  );
  const read = async (level: "info" | "warn", text = "", limit = 10, module = "") =>
    (await readLogs(home.path, { level, module, text, limit })).lines.map(({ msg }) => msg);
  expect(await read("info")).toEqual(["line 1", "line 2", "line 3", "line 4"]);
  expect(await read("info", "", 2)).toEqual(["line 3", "line 4"]);
  expect(await read("warn")).toEqual(["line 2", "line 3"]);
  expect(await read("info", "REQ-7")).toEqual(["line 2"]);
  expect(await read("info", "", 10, "tools")).toEqual(["line 3"]);
  const every = { level: "info", module: "", text: "", limit: 5 } as const;
  expect((await readLogs(home.path, every)).modules).toEqual(["http", "tools"]);
  expect(await readLogs(join(home.path, "none"), every)).toEqual({
    lines: [],
    modules: [],
    searched: 0,
  });
});

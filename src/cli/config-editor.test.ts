/** `pi-gw config edit` with editors that are small scripts. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { cliFixture } from "../testing/cli-fixture.ts";
import { tempHome } from "../testing/temp-home.ts";

const GOOD = `{
  // the port of this house
  "gateway": { "port": 4711 },
}
`;
const BAD = `{
  "gateway": { "port": "often" },
}
`;

/** An editor that writes these texts, one each time it is run; null: it fails. */
async function editing(texts: readonly (string | null)[], answers: readonly string[] = []) {
  const tools = await tempHome();
  const at = (name: string | number) => join(tools.path, String(name));
  for (const [n, text] of texts.entries()) if (text !== null) await Bun.write(at(n), text);
  await Bun.write(
    at("editor.sh"),
    `n=$(cat ${at("n")} 2>/dev/null || echo 0); echo $((n+1)) > ${at("n")}; cat ${at("$n")} > "$2"`,
  );
  const left = [...answers];
  const fx = await cliFixture(
    { isTerminal: answers.length > 0, readLine: async () => left.shift() ?? null },
    { EDITOR: `sh ${at("editor.sh")} --wait` },
  );
  return {
    ...fx,
    file: join(fx.home, "pi-gateway.jsonc"),
    files: async () => (await readdir(fx.home)).toSorted(),
    async [Symbol.asyncDispose]() {
      await fx[Symbol.asyncDispose]();
      await tools[Symbol.asyncDispose]();
    },
  };
}

test("an edited file takes the place of the old one with its comments, and a copy of the old one is kept", async () => {
  await using fx = await editing([GOOD]);
  await Bun.write(fx.file, "{}\n");
  expect(await fx.run("config", "edit", "--json")).toBe(0);
  expect(await Bun.file(fx.file).text()).toBe(GOOD);
  const { changed, backup } = JSON.parse(fx.out());
  expect([changed, await Bun.file(backup).text()]).toEqual([true, "{}\n"]);
  expect((await fx.files()).filter((name) => name.includes(".edit-"))).toEqual([]);
});

test("a text that is not valid is told with line and column, and edited again when the person says so", async () => {
  await using fx = await editing([BAD, GOOD], [""]);
  expect(await fx.run("config", "edit")).toBe(0);
  expect(fx.err()).toContain(`${fx.file}:2:`);
  expect(fx.err()).toContain("Edit them again? [Y/n]");
  expect(await Bun.file(fx.file).text()).toBe(GOOD);
});

test.each([
  ["says no", ["n"]],
  ["is not there", []],
])("a text that is not valid changes nothing when the person %s, and is kept", async (_what, answers) => {
  await using fx = await editing([BAD, GOOD], answers);
  await Bun.write(fx.file, "{}\n");
  expect(await fx.run("config", "edit")).toBe(78);
  expect(await Bun.file(fx.file).text()).toBe("{}\n");
  const [copy = ""] = (await fx.files()).filter((name) => name.includes(".edit-"));
  expect(await Bun.file(join(fx.home, copy)).text()).toBe(BAD);
  expect(fx.err()).toContain(copy);
});

test("nothing is written when the editor fails, or leaves the file as it is", async () => {
  await using failing = await editing([null]);
  expect(await failing.run("config", "edit")).toBe(1);
  expect([failing.err(), await failing.files()]).toEqual([expect.stringContaining("nothing was changed"), []]);
  await using same = await editing([GOOD]);
  await Bun.write(same.file, GOOD);
  expect(await same.run("config", "edit")).toBe(0);
  expect([same.out(), await same.files()]).toEqual([`${same.file} was not changed.\n`, ["pi-gateway.jsonc"]]);
});

/** Names in the documentation are true: links lead somewhere, files and settings and routes and commands exist, dependencies have a reason. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pages, PROJECT } from "../scripts/docs/blocks.ts";
import { configJsonSchema } from "../src/config/index.ts";

const texts = [
  ...new Set([...pages(), "AGENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "verification/README.md"]),
].map((page) => [page, readFileSync(join(PROJECT, page), "utf8")] as const);
const reference = (name: string): string => readFileSync(join(PROJECT, "docs/reference", name), "utf8");

/** Everything between backticks, outside of code blocks. */
function marked(text: string): readonly string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, name = ""]) => name);
}

/** `## Behind a proxy` → `behind-a-proxy`, as GitHub makes it. */
function anchors(text: string): ReadonlySet<string> {
  const titles = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/g, "-"),
    ),
  );
}

describe("a link of the documentation", () => {
  test.each(texts)("of %s leads to a page, and to a heading that is there", (page, text) => {
    const prose = text.replaceAll(/^```[^]*?^```/gm, "");
    const dead = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(PROJECT, target))) return [`${link}: there is no such file`];
      if (anchor === undefined || !target.endsWith(".md")) return [];
      const found = anchors(readFileSync(join(PROJECT, target), "utf8")).has(anchor);
      return found ? [] : [`${link}: there is no such heading`];
    });
    expect(dead).toEqual([]);
  });
});

describe("a name in the documentation", () => {
  test.each(texts)("of %s that is a path of the project exists", (_page, text) => {
    const PATH = /^(?!.*\/ID\/)(?:src|bridge|console|test|scripts|verification|examples|docs|bin)\/[\w./-]+$/;
    const gone = marked(text).filter((name) => PATH.test(name) && !existsSync(join(PROJECT, name)));
    expect(gone).toEqual([]);
  });

  test.each(texts)("of %s that is a setting exists", (_page, text) => {
    const sections = Object.keys((configJsonSchema() as { properties: object }).properties);
    const SETTING = /^([a-z][a-zA-Z]*)(?:\.[a-zA-Z]+(?:\[\])?)+$/;
    const unknown = marked(text).filter((name) => {
      const [, section = ""] = SETTING.exec(name) ?? [];
      return (
        sections.includes(section) &&
        !/\.(ts|md|js|json|jsonc|db)$/.test(name) &&
        !isSetting(name) &&
        !METHODS.has(name)
      );
    });
    expect(unknown).toEqual([]);
  });

  test.each(texts)("of %s that is a route exists", (_page, text) => {
    const routes = new Set(
      [...reference("http.md").matchAll(/`?(\/[\w/:.*-]+)`?/g)].map(([, path = ""]) => plain(path)),
    );
    const ROUTE = /^(?:GET|POST|PUT|PATCH|DELETE) (\/(?!(?:hooks|telegram|discord)\/)[\w/:{}.*-]*)/; // those have names of the owner's choice
    const unknown = marked(text).flatMap((name) => {
      const [, path] = ROUTE.exec(name) ?? [];
      return path !== undefined && !routes.has(plain(path)) ? [name] : [];
    });
    expect(unknown).toEqual([]);
  });

  test.each(texts)("of %s that is a command of pi-gw exists", (_page, text) => {
    const unknown = marked(text).filter((name) => {
      const [, command = ""] = /^(?:npx )?pi-gw ([a-z][a-z-]*)/.exec(name) ?? [];
      return command !== "" && !COMMANDS.includes(command);
    });
    expect(unknown).toEqual([]);
  });
});

/** Names of WebSocket methods and events look like settings. */
const METHODS: ReadonlySet<string> = new Set(
  ["src/http/ws", "src/contracts"].flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(PROJECT)].flatMap((file) =>
      [...readFileSync(join(PROJECT, file), "utf8").matchAll(/"([a-z]+\.[a-zA-Z.]+)"/g)].map(([, name = ""]) => name),
    ),
  ),
);
/** Names of before, which the configuration still understands. */
const OLD_KEYS = readFileSync(join(PROJECT, "src/config/check/old-keys.ts"), "utf8");

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Whether the schema has something under this name; names of an owner's choice are found by the map they are in. */
function leadsTo(schema: Schema | boolean | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (schema === undefined || typeof schema === "boolean") return false;
  if (schema.anyOf?.some((one) => leadsTo(one, [name, ...rest]))) return true;
  if (schema.items) return leadsTo(schema.items, [name, ...rest]);
  const own = schema.properties?.[name.replace("[]", "")];
  if (own) return leadsTo(own, rest);
  const maps = [schema.additionalProperties, ...Object.values(schema.patternProperties ?? {})];
  return maps.some((one) => typeof one === "object" && (rest.length === 0 || leadsTo(one, rest)));
}

function isSetting(name: string): boolean {
  return leadsTo(configJsonSchema() as Schema, name.split(".")) || OLD_KEYS.includes(`"${name}"`);
}

/** Parameters are called differently in prose: `/api/sessions/{key}` and `/api/sessions/:key` are one route. */
function plain(path: string): string {
  return path.replaceAll(/[:{][\w]+\}?/g, "*").replace(/\/$/, "");
}

/** As the program declares them. */
const COMMAND_FILES = ["program.ts", ...new Bun.Glob("add-*.ts").scanSync(join(PROJECT, "src/cli"))];
const COMMANDS: readonly string[] = COMMAND_FILES.flatMap((file) =>
  [...readFileSync(join(PROJECT, "src/cli", file), "utf8").matchAll(/program\s*\.command\("([\w-]+)/g)].map(
    ([, name = ""]) => name,
  ),
);

test("every dependency has its reason in CONTRIBUTING.md", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
    readonly dependencies: object;
    readonly devDependencies: object;
  };
  const contributing = readFileSync(join(PROJECT, "CONTRIBUTING.md"), "utf8");
  const unnamed = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !contributing.includes(`\`${name}\``),
  );
  expect(unnamed).toEqual([]);
});

test("docs/http.md names every method of the event socket, and docs/cli.md every command", () => {
  const methods = ["src/http/ws/ws-methods.ts", "src/http/ws/cron-methods.ts"].flatMap((file) =>
    [...readFileSync(join(PROJECT, file), "utf8").matchAll(/ethod<"([\w.]+)">\(/g)].map(([, name = ""]) => name),
  );
  const http = readFileSync(join(PROJECT, "docs/http.md"), "utf8");
  const cli = readFileSync(join(PROJECT, "docs/cli.md"), "utf8");
  expect(methods.length).toBeGreaterThan(20);
  expect(methods.filter((name) => !http.includes(`\`${name}\``))).toEqual([]);
  expect(COMMANDS.filter((name) => !new RegExp(`^\\| \`${name}[ \`]`, "m").test(cli))).toEqual([]);
});

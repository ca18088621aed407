/** Client libraries that programs are written with: each has tests here that drive it against a real gateway with real pi. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sumOf, type Totals } from "../test/totals.ts";
import { ROOT, runTestFiles, type Suite, table, versionOf } from "./suite.ts";

interface Library {
  readonly title: string;
  /** Its `describe` in a test file that is about several libraries: only those tests count for it. */
  readonly group: string;
}

/** By package. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  openai: { title: "OpenAI SDK", group: "the official SDK" },
  ai: { title: "Vercel AI SDK", group: "the Vercel AI SDK" },
  "@langchain/openai": { title: "LangChain", group: "LangChain" },
  "@modelcontextprotocol/client": { title: "MCP client", group: "an MCP client" },
  "@agentclientprotocol/sdk": { title: "ACP SDK", group: "an editor" },
};

export const clients: Suite = {
  name: "clients",
  title: "Client libraries",
  async run() {
    const rows: string[][] = [];
    let ok = true;
    const users = new Map(Object.keys(LIBRARIES).map((name) => [name, testsWith(name)]));
    const isShared = (file: string): boolean => [...users.values()].filter((files) => files.includes(file)).length > 1;
    for (const [name, { title, group }] of Object.entries(LIBRARIES)) {
      const files = users.get(name) ?? [];
      if (files.length === 0) continue;
      const { passed, failed } = await testsOf(files, isShared, group);
      if (failed > 0) ok = false;
      rows.push([
        title,
        `\`${name}\` ${versionOf(name)}`,
        files.map(named).join(", "),
        `${passed} of ${passed + failed}`,
      ]);
    }
    return { ok, text: table(["Library", "Package", "Tests", "Passed"], rows) };
  },
};

async function testsOf(files: readonly string[], isShared: (file: string) => boolean, group: string): Promise<Totals> {
  const shared = files.filter(isShared);
  const alone = files.filter((file) => !isShared(file));
  const runs = [
    ...(alone.length > 0 ? [await runTestFiles(alone)] : []),
    ...(shared.length > 0 ? [await runTestFiles(shared, group)] : []),
  ];
  return sumOf(runs);
}

const named = (file: string): string => `\`${file}\``;

/** Whole-gateway tests that import the package, themselves or by a fixture beside them. */
function testsWith(name: string): readonly string[] {
  const folder = join(ROOT, "test");
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  const imports = (file: string): boolean => new RegExp(`from "${name}(/[^"]*)?"`).test(texts.get(file) ?? "");
  const users = files.filter(imports);
  const meets = (file: string): boolean =>
    users.includes(file) || users.some((user) => (texts.get(file) ?? "").includes(`from "./${user}"`));
  return files.filter((file) => file.endsWith(".test.ts") && meets(file)).map((file) => `test/${file}`);
}

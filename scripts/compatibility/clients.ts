/** Client libraries that programs are written with: each has tests here that drive it against a real gateway with real pi. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runTestFiles, type Suite, table, versionOf } from "./suite.ts";

/** A package, and what people call it. */
const LIBRARIES: Readonly<Record<string, string>> = {
  openai: "OpenAI SDK",
  ai: "Vercel AI SDK",
  "@langchain/openai": "LangChain",
  "@modelcontextprotocol/client": "MCP client",
  "@agentclientprotocol/sdk": "ACP SDK",
};

export const clients: Suite = {
  name: "clients",
  title: "Client libraries",
  async run() {
    const rows: string[][] = [];
    let ok = true;
    for (const [name, title] of Object.entries(LIBRARIES)) {
      const files = testsWith(name);
      if (files.length === 0) continue;
      const { passed, failed } = await runTestFiles(files);
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

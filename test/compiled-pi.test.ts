/** The pi that tests start by the hundred is made of the installed one by `scripts/test/compiled-pi.ts`: asked the same, both say the same. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ensureCompiledPi } from "../scripts/test/compiled-pi.ts";
import { type FakeProvider, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** What extensions import is not beside them: pi brings it along, its own code included. */
const EXTENSION = `
import { Type } from "typebox";
import { Value } from "typebox/value";
import { StringEnum } from "@earendil-works/pi-ai";
import { VERSION, getPackageDir } from "@earendil-works/pi-coding-agent";
export default function (pi) {
  const parameters = Type.Object({ tone: StringEnum(["high", "low"]) });
  pi.registerCommand("sing", { description: \`\${VERSION} at \${getPackageDir()}\`, handler: async () => {} });
  pi.registerTool({
    name: "sing", label: "Sing", description: "Sings.", parameters,
    execute: async (_id, given) => ({ content: [{ type: "text", text: "la " + given.tone + Value.Check(parameters, given) }], details: {} }),
  });
}
`;

/** Of one conversation: times, and ids that each process makes up. */
const OWN = /"(timestamp|sessionId|sessionFile|id|entryId|parentId|durationMs|duration|responseId)":("[^"]*"|\d+)/g;

async function conversation(entry: string, provider: FakeProvider): Promise<string> {
  await using home = await tempHome();
  await mkdir(join(home.path, "pi"));
  const extension = join(home.path, "singer.ts");
  await writeFile(extension, EXTENSION);
  const model = { id: "m", name: "M", reasoning: false, input: ["text"], contextWindow: 32_000, maxTokens: 4_096 };
  const fake = { baseUrl: provider.baseUrl, api: "openai-completions", apiKey: "none", models: [model] };
  await writeFile(join(home.path, "pi", "models.json"), JSON.stringify({ providers: { fake } }));
  const { PATH = "", BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } = process.env;
  const pi = Bun.spawn(
    [process.execPath, "--no-env-file", entry, "--offline", "--no-session", "--model", "fake/m", "-e", extension],
    {
      cwd: home.path,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      env: {
        PATH,
        HOME: home.path,
        PI_CODING_AGENT_DIR: join(home.path, "pi"),
        ...(cache ? { BUN_RUNTIME_TRANSPILER_CACHE_PATH: cache } : {}),
      },
    },
  );
  const questions = ["get_state", "get_commands", "get_available_models", "get_nonsense"].map((type) => ({ type }));
  for (const question of [...questions, { type: "prompt", message: "Sing." }])
    pi.stdin.write(`${JSON.stringify(question)}\n`);
  let said = "";
  for await (const chunk of pi.stdout) {
    said += new TextDecoder().decode(chunk);
    if (said.includes('"agent_settled"')) break;
  }
  void pi.stdin.end();
  await pi.exited;
  const errors = await new Response(pi.stderr).text();
  return `${said}${errors}`.replaceAll(OWN, '"$1":0').replaceAll(home.path, "HOME");
}

test("compiled pi answers questions, loads extensions, calls models and runs tools as the installed pi does", async () => {
  await using provider = await startFakeProvider(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? says("Sung.")
      : { kind: "tools", calls: [{ name: "sing", input: { tone: "low" }, id: "call_1" }] },
  );
  const installed = Bun.fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent/rpc-entry"));
  const compiled = await ensureCompiledPi(resolve(import.meta.dir, ".."));
  const expected = await conversation(installed, provider);
  expect(expected).toContain("la lowtrue");
  expect(expected).toContain("Sung.");
  expect(await conversation(compiled, provider)).toBe(expected);
});

test("a copy of the project compiles pi anew, because the first one names places that agents of the copy may not read", async () => {
  await using home = await tempHome();
  const [first, copy] = [join(home.path, "first"), join(home.path, "copy")];
  const installed = join("node_modules", "@earendil-works", "pi-coding-agent");
  await mkdir(join(first, installed, "dist", "bundle"), { recursive: true });
  await writeFile(join(first, installed, "package.json"), JSON.stringify({ version: "1.0.0" }));
  await writeFile(join(first, installed, "dist", "bundle", "rpc-entry.js"), "console.log(import.meta.dir);");
  await ensureCompiledPi(first);
  await cp(first, copy, { recursive: true });
  const said = await Bun.$`${process.execPath} ${await ensureCompiledPi(copy)}`.text();
  expect(said.trim()).toBe(join(copy, installed, "dist", "bundle"));
});

/**
 * A state directory of the first version, opened by this one: real gateway, real pi. The conversation goes on where it was, files are where the
 * agent finds them, and what was there before is kept as copies.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { personFolder } from "../src/kit/person-folder.ts";
import { type FakeProvider, type ProviderRequest, says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { makeFirstVersionHome } from "../src/testing/whole/first-version-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { asked, endpoint, statusOf, textOf, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const EARLIER = { session: "ann", said: "my boat lies in the harbour", answered: "I will remember the harbour." };

let home: TempHome;
let provider: FakeProvider;
beforeAll(async () => {
  home = await tempHome();
  makeFirstVersionHome(home.path, EARLIER, { "notes.txt": "the boat is green" });
  provider = await startFakeProvider(({ messages }: ProviderRequest) =>
    messages.at(-1)?.role === "tool"
      ? says("I have looked.")
      : { kind: "tools", calls: [{ name: "bash", input: { command: "pwd; cat notes.txt" } }] },
  );
});
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

function start(workspace: object): Promise<GatewayProcess> {
  const { agent, models } = endpoint(provider);
  return startGatewayProcess({
    home: home.path,
    config: { agent: { ...agent, tools: "workspace", workspace }, models },
  });
}

/** What the agent's command printed in the answer to this, and everything the model was told for it. */
async function look(gateway: GatewayProcess, text: string): Promise<{ printed: string; messages: readonly string[] }> {
  const { status } = await gateway.chat(text, { session: EARLIER.session });
  expect(status).toBe(200);
  const request = provider.requests.findLast((one) => asked(one).includes(text));
  const messages = (request?.messages ?? []).map(({ content }) => textOf(content));
  return { printed: messages.at(-1) ?? "", messages };
}

test("a conversation of the first version goes on: the agent knows what was said, and finds its files; the old database is kept", async () => {
  await using gateway = await start({});
  const { printed, messages } = await look(gateway, "what colour is it?");
  expect(messages).toContain(EARLIER.said);
  expect(messages).toContain(EARLIER.answered);
  expect(printed).toContain(`${join(home.path, "workspace")}\nthe boat is green`);
  const shown = (await transcript(gateway, EARLIER.session)).filter(({ role }) => role !== "tool");
  expect(shown.map(({ text }) => text)).toEqual([
    EARLIER.said,
    EARLIER.answered,
    "what colour is it?",
    "I have looked.",
  ]);
  expect(readdirSync(home.path).filter((name) => name.startsWith("gateway.db.before-upgrade-v1-"))).toHaveLength(1);
  expect((await statusOf(gateway)).notices).toEqual([]);
});

test("a workspace that becomes each person's is backed up, and the conversation finds its files in the operator's own", async () => {
  await using gateway = await start({ scope: "person" });
  const own = personFolder(join(home.path, "workspace"), "operator");
  const { printed, messages } = await look(gateway, "is it still there?");
  expect(printed).toContain(`${own}\nthe boat is green`);
  expect(messages).toContain(EARLIER.said);
  expect(readFileSync(join(own, "notes.txt"), "utf8")).toBe("the boat is green");
  const [backup = ""] = readdirSync(join(home.path, "backups"));
  expect((await statusOf(gateway)).notices).toEqual([expect.stringContaining(`${backup} is a backup from before.`)]);
});

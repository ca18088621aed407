/** A session file that was damaged between two turns. Real gateway, real pi: the conversation goes on, and everybody knows. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { endpoint, eventually, statusOf, told, transcript, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

test("a person whose session file was damaged is answered from the transcript, and told so once", async () => {
  await using provider = await startFakeProvider(() => says("gladly"));
  await using gateway = await startGatewayProcess({ config: endpoint(provider) });
  await gateway.chat("my dog is called Rex", { session: "dog" });
  await eventually(
    "the agent to be given back",
    async () => (await statusOf(gateway)).pool.busy, // the process has been given back and knows how long the file is
    (busy) => busy === 0,
  );
  const sessions = join(gateway.home, "sessions");
  const [file = ""] = readdirSync(sessions).filter((name) => name.endsWith(".jsonl"));
  writeFileSync(join(sessions, file), "no header, no entries\n");

  expect((await gateway.chat("what is my dog called?", { session: "dog" })).body.content).toContain("gladly");
  const request = provider.requests.at(-1);
  if (!request) throw new Error("the model was not asked");
  expect(told(request)).toMatch(/person: my dog is called Rex\n\nyou: gladly\n.*\n\nwhat is my dog called\?$/);
  await gateway.chat("thanks", { session: "dog" });
  const notices = (await transcript(gateway, "dog")).filter(({ kind }) => kind === "notice");
  expect(notices.map(({ text }) => text)).toEqual([expect.stringContaining("own record of this conversation")]);
  expect(readdirSync(sessions).filter((name) => name.startsWith(`${file}.damaged-`)).length).toBe(1);
  expect(gateway.stderr()).toContain("the session file has no header");
});

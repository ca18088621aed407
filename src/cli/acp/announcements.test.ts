/** Which commands editors are told of, and when. */
import { expect, test } from "bun:test";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import { commandsUpdate, withAnnouncements } from "./announcements.ts";

test("an editor is told the name, the description and the arguments of each command", () => {
  const commands = [
    { name: "new", help: "Begin anew" },
    { name: "model", help: "Choose a model", usage: "[name|default]" },
  ];
  expect(commandsUpdate(commands)).toEqual({
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { name: "new", description: "Begin anew" },
      { name: "model", description: "Choose a model", input: { hint: "[name|default]" } },
    ],
  });
});

test("an announcement follows the answer that names its session, once", async () => {
  const sent: AnyMessage[] = [];
  const writable = new WritableStream<AnyMessage>({ write: (message) => void sent.push(message) });
  const { stream, afterAnswer } = withAnnouncements({ readable: new ReadableStream(), writable });
  const update = commandsUpdate([]);
  afterAnswer("acp-1", update);
  const answers = [{}, null, { sessionId: "acp-2" }, { sessionId: "acp-1" }, { sessionId: "acp-1" }].map(
    (result, id): AnyMessage => ({ jsonrpc: "2.0", id, result }),
  );
  const writer = stream.writable.getWriter();
  for (const answer of answers) await writer.write(answer);
  const announced = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "acp-1", update } };
  expect(sent).toEqual([...answers.slice(0, 4), announced as AnyMessage, ...answers.slice(4)]);
});

/** A tool call from inside a turn, over the pipe, with schema, audit row (fsynced) and all: the time pi waits for its result. */
import { startFakeProvider, says } from "../../src/testing/fake-provider.ts";
import { createChatClient } from "../../src/testing/whole/chat-client.ts";
import { startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import type { WireEvent, WireResponse } from "../../src/contracts/wire.ts";
import { benchConfig } from "./turns.ts";
import { type Spread, spread } from "./stats.ts";

/** As a client sees it: from `turn.tool running` to `turn.tool success`. */
export async function measureToolCalls(calls: number): Promise<Spread> {
  await using provider = await startFakeProvider(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    return results < calls ? { kind: "tools", calls: [{ name: "session_status", input: {} }] } : says("done");
  });
  await using gateway = await startGatewayProcess({ config: benchConfig(provider.baseUrl) });
  const client = createChatClient("agent:default:webchat:dm:tools");
  const samples: number[] = [];
  let began = 0;
  client.onFrame = (frame: WireEvent | WireResponse) => {
    if (!("event" in frame) || frame.event !== "turn.tool") return;
    if (frame.data.status === "running") began = performance.now();
    else samples.push(performance.now() - began);
  };
  await client.connect(gateway.url, gateway.token);
  void client.send("call the tool");
  await client.until((shown) => shown.some(({ role }) => role === "assistant"));
  client.disconnect();
  return spread(samples.slice(Math.min(20, Math.floor(samples.length / 10))));
}

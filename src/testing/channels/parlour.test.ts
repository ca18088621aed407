/** The worked example keeps the promises it is an example of. */
import type { Principal } from "../../contracts/ids.ts";
import { type ChannelWorld, channelContract } from "../contracts/channel-contract.ts";
import { channelBench } from "./channel-bench.ts";
import { parlourPlatform } from "./parlour.ts";
import { createParlour } from "./parlour-service.ts";

async function open(): Promise<ChannelWorld> {
  const bench = await channelBench();
  const service = createParlour();
  const [channel] = await parlourPlatform(service).open(bench.deps, new AbortController().signal);
  if (!channel) throw new Error("no account was opened");
  const principal = (name: string) => `parlour:user:${name}` as Principal;
  return {
    bench,
    channel,
    here: { channel: "parlour", account: "main", chat: "friend" },
    platform: {
      kinds: ["message", "edit", "action", "forward"],
      troubles: ["limited", "gone", "cut", "silent"],
      people: { friend: principal("friend"), other: principal("other"), stranger: principal("stranger") },
      async bring({ where, ...update }) {
        const group = where === "group";
        service.say({ ...update, group, chat: group ? "the-group" : update.by });
      },
      confirmed: service.confirmed,
      shown: () => service.shown("friend"),
      calls: () => service.calls,
      misbehave: (trouble) => void (service.trouble = trouble),
      connections: service.connections,
    },
    close: async () => channel[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      service.trouble = null;
      await channel[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

channelContract("parlour", open);

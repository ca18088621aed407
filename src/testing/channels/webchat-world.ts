/** WebChat as the channel contract sees it: its platform is a web console that is connected to the real port. */
import type { Receiver } from "../../contracts/channel.ts";
import { createWebChat } from "../../channels/webchat/index.ts";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { Principal } from "../../contracts/ids.ts";
import { openHttp } from "../../http/index.ts";
import { secret } from "../../kit/secret.ts";
import { createClientStream } from "../../observe/index.ts";
import type { ChannelWorld, PlatformUpdate } from "../contracts/channel-contract.ts";
import { startHttpWorld, TOKEN } from "../http/http-fixture.ts";
import { openWs, type WsClient } from "../http/ws-client.ts";
import { channelBench } from "./channel-bench.ts";

const CHAT = "page-1";
const KEY_BYTES = 32;
/** From here on an answer means that trying again may help. */
const SERVER_ERRORS = 500;

export async function webChatWorld(): Promise<ChannelWorld> {
  const bench = await channelBench();
  const { events } = bench.deps;
  const channel = createWebChat({ events, clock: bench.clock, store: bench.store }, "webchat");
  const base = startHttpWorld();
  const stream = createClientStream({ events }, { epoch: 1 });
  const { receive } = bench.deps.door as Receiver; // nothing answers questions on this bench
  const receiver = { receive, prepare: base.deps.messages.receiver.prepare };
  const http = openHttp(
    {
      ...base.deps,
      events,
      stream,
      store: bench.store,
      messages: { ...base.deps.messages, webchat: channel, receiver },
    },
    {
      port: 0,
      hostname: "127.0.0.1",
      allowedHosts: [],
      trustedProxies: [],
      auth: { token: secret(TOKEN), password: null },
      mediaKey: new Uint8Array(KEY_BYTES),
      limits: () => ({ maxUploadBytes: 1_000, maxMessageChars: 100_000 }),
    },
  );
  const page = await openWs({ ...base, url: (path) => `${http.url}${path}` });
  await page.ask("subscribe", { events: ["message"] });
  const confirmed = new Set<string>();
  const close = async () => {
    await base[Symbol.asyncDispose]();
    await http[Symbol.asyncDispose]();
  };
  return {
    bench,
    channel,
    here: { channel: "webchat", account: "default", chat: CHAT },
    platform: {
      kinds: ["message"],
      troubles: [],
      people: { friend: "operator" as Principal, other: null, stranger: "web:user:stranger" as Principal },
      async bring(update) {
        const { by, id } = update;
        const sending = by === "stranger" ? strangerSends(http.url, update) : pageSends(page, update);
        void sending.then((ended) => ended && confirmed.add(id));
      },
      confirmed: (id) => confirmed.has(id),
      shown: () => shownOn(page),
      calls: () => itemsOf(page).map(({ id, text }) => `${id} ${text}`),
      misbehave: () => undefined,
      listens: true,
      connections: () => (page.socket.readyState === WebSocket.CLOSED ? 0 : 1),
    },
    close,
    async [Symbol.asyncDispose]() {
      page[Symbol.dispose]();
      await close();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** True: the web console will not send it again. */
function pageSends(page: WsClient, { id, text }: PlatformUpdate): Promise<boolean> {
  if (page.socket.readyState !== WebSocket.OPEN) return Promise.resolve(false);
  const session = `agent:default:webchat:dm:${CHAT}`;
  return page.ask("chat.send", { session, text, clientId: id }).then(
    () => true,
    () => false, // the web console keeps what was not accepted
  );
}

async function strangerSends(url: string, { text }: PlatformUpdate): Promise<boolean> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/chat`, { method: "POST", headers, body: JSON.stringify({ text }) });
  return !answer.ok && answer.status < SERVER_ERRORS;
}

function itemsOf(page: WsClient): readonly TranscriptItem[] {
  const items = page.events
    .filter(({ event }) => event === "message")
    .map(({ data }) => data["item"] as TranscriptItem);
  return items.filter(({ role }) => role === "assistant");
}

/** As the web console does it: an id it has is replaced, and what was withdrawn goes. */
function shownOn(page: WsClient): readonly string[] {
  const shown = new Map<string, TranscriptItem>();
  for (const item of itemsOf(page)) shown.set(item.id, item);
  return [...shown.values()].filter(({ deleted }) => !deleted).map(({ text }) => text);
}

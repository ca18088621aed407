/** The store of the HTTP tests: what the routes read and write, in memory. */
import type { Webhook } from "../../contracts/channels/platform.ts";
import type { MediaRef, TranscriptItem } from "../../contracts/chat.ts";
import type { ReplyRetries, RetryRequest, TroubledPart } from "../../contracts/delivery.ts";
import type { LiveTurn } from "../../contracts/flow.ts";
import type { MediaId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { SessionSettings } from "../../contracts/session-settings.ts";
import type { Store } from "../../contracts/store.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import type { HttpDeps } from "../../http/index.ts";
import { fileType } from "../../media/index.ts";

export type StoredSignIn = Parameters<Store["signIns"]["put"]>[0];
export type StoredMedia = MediaRef & { readonly owner: Principal; readonly data: Uint8Array };

export const API_SESSION = "agent:default:api:dm:operator" as SessionKey;

/** Everything that the routes read and write, as maps and lists that a test may look into and change. */
export function createMemory() {
  const writable = { now: true };
  const signIns = new Map<string, StoredSignIn>();
  const media = new Map<string, StoredMedia>();
  const results = new Map<string, TurnResult>();
  const live = new Map<string, LiveTurn>();
  const transcript: TranscriptItem[] = [];
  const troubled: TroubledPart[] = [];
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const chosen = new Map<SessionKey, SessionSettings>();
  const opened = new Set<SessionKey>();
  const names = new Map<SessionKey, string>();
  const settingsOf = (key: SessionKey) => {
    const { model = null, thinking = null } = chosen.get(key) ?? {};
    return { ...(model === null ? {} : { model }), ...(thinking === null ? {} : { thinking }) };
  };
  const summary = (key: SessionKey) => ({
    ...settingsOf(key),
    key,
    channel: "api",
    title: names.get(key) ?? "A title",
    createdAt: 1,
    lastActivityAt: 2,
    messages: transcript.length,
    usage,
  });
  const never = () => Promise.reject(new Error("not part of this fixture"));
  const store: HttpDeps["store"] = {
    health: { isWritable: async () => writable.now },
    messages: {
      traffic: async () => ({ lastReceived: null, lastSent: null }),
      find: async (_place, id) => {
        const item = transcript.find((one) => one.id === id);
        const to = { channel: "webchat", account: "default", chat: "" };
        const ours = item?.role === "assistant";
        return item ? { id, to, ours, platformIds: [], pending: false, files: 0, reactions: [] } : null;
      },
      item: async (id) => transcript.find((one) => one.id === id) ?? null,
    },
    turns: {
      begin: never,
      upcoming: async () => null,
      leave: never,
      countCrashes: never,
      join: never,
      endUnbegun: never,
      finish: never,
      resultOf: async (id) => results.get(id) ?? null,
      list: async () => ({ items: [] }),
      get: async () => null,
      costsOf: async () => ({}),
    },
    sessions: {
      get: async (key) => (key.includes("missing") && !opened.has(key) ? null : summary(key)),
      list: async (_filter, page) => ({ items: [summary(API_SESSION)].slice(0, page.limit) }),
      transcript: async (_key, page) => ({ items: transcript.slice(-page.limit) }),
      reset: async (key) => !key.includes("missing"),
      setQueueMode: never,
      open: async ({ key }) => void opened.add(key),
      branches: { place: async () => null, rewind: never, branch: never },
      mark: async () => true,
      waiting: async () => [],
      remove: never,
      searchMessages: async ({ words }) => ({
        items: [
          {
            id: "in_1",
            sessionKey: API_SESSION,
            title: "hello",
            channel: "api",
            role: "user",
            at: 1,
            snippet: `about ${words}`,
          },
        ],
      }),
      total: never,
      async configure(key, changes) {
        chosen.set(key, { ...(chosen.get(key) ?? { model: null, thinking: null }), ...changes });
        return true;
      },
      async rename(key, name) {
        names.set(key, name ?? "A title");
        return true;
      },
    },
    media: {
      async put({ data, at: _at, ...file }) {
        const { owner: _owner, ...ref } = { ...file, bytes: data.byteLength };
        media.set(file.mediaId, { ...ref, owner: file.owner, data });
        return ref;
      },
      async find(id) {
        const found = media.get(id);
        if (!found) return null;
        const { data: _data, ...ref } = found;
        return ref;
      },
      list: async () => [],
      read: async (id: MediaId) => media.get(id)?.data ?? null,
      bytesSince: async () => 0,
      removeFile: never,
      removeCopies: never,
    },
    toolCalls: { list: async () => ({ items: [] }) },
    audit: { list: async () => ({ items: [] }), note: async () => undefined },
    activity: { list: async () => ({ items: [] }) },
    approvals: { ended: async () => ({ items: [] }) },
    usage: { report: never },
    outbox: {
      list: async (state, page) => ({ items: troubled.filter((part) => part.state === state).slice(0, page.limit) }),
    },
    signIns: {
      list: async (now) => [...signIns.values()].filter(({ expiresAt }) => expiresAt > now),
      put: async (signIn) => void signIns.set(signIn.digest, signIn),
      find: async (digest) => signIns.get(digest) ?? null,
      remove: async (digest) => void signIns.delete(digest),
    },
  };
  const pairing: HttpDeps["people"]["pairing"] = {
    list: () => [],
    approve: async () => ({ kind: "unknown" }),
    revoke: async () => false,
    undo: async () => false,
  };
  let kept = 0;
  const files: HttpDeps["messages"]["files"] = {
    async keep({ owner, name, open }, signal) {
      const data = new Uint8Array(await new Response(await open(signal)).arrayBuffer());
      if (data.byteLength === 0) return { kind: "refused", note: `"${name}" was not taken in: it is empty.` };
      const mediaId = `media_${String(++kept).padStart(6, "0")}` as MediaId;
      const mimeType = fileType(data);
      return { kind: "kept", media: await store.media.put({ mediaId, owner, name, mimeType, data, at: 0 }) };
    },
    transcribe: async () => ({ kind: "off" }),
  };
  const retries: (readonly [string, RetryRequest])[] = [];
  const replyRetries: ReplyRetries = {
    async retry(id, request) {
      retries.push([id, request]);
      const part = troubled.find((one) => one.id === id);
      return part ? { kind: "retried", from: part.state, endedAt: part.endedAt } : { kind: "unknown" };
    },
  };
  const webhooks = new Map<string, Webhook>();
  return {
    store,
    writable,
    signIns,
    media,
    results,
    live,
    transcript,
    troubled,
    retries,
    replyRetries,
    pairing,
    files,
    webhooks,
  };
}

/**
 * Parlour: a messenger that exists only in memory, and the channel for it. Small enough to read in one go, so it is the worked example of
 * docs/channels.md; complete enough to keep every promise of the contract, so it also shows that the contract can be kept.
 */
import { type Channel, SendError } from "../../contracts/channel.ts";
import type { OpenChannel, Platform, PlatformDeps } from "../../contracts/channels/platform.ts";
import type { InboundMessage } from "../../contracts/chat.ts";
import type { Principal } from "../../contracts/ids.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Parlour, ParlourUpdate } from "./parlour-service.ts";

const POLL_MS = 1_000;
const MAX_CHARS = 1_000;
/** Three polls without an answer. */
const SILENT_MS = 3 * POLL_MS;

export function parlourPlatform(service: Parlour): Platform {
  return {
    id: "parlour",
    open: async (deps) => [openParlour(deps, service)],
  };
}

function openParlour(deps: PlatformDeps, service: Parlour): OpenChannel {
  const stopping = new AbortController();
  let heardAt = deps.clock.elapsed();
  const polling = poll(deps, service, stopping.signal, () => {
    heardAt = deps.clock.elapsed();
  });
  const well = (): boolean => deps.clock.elapsed() - heardAt < SILENT_MS;
  return {
    ...outbound(service, stopping.signal),
    id: "parlour",
    account: "main",
    canRefuse: false,
    repeat: "risky",
    ready: () => !stopping.signal.aborted,
    health: () => (well() ? { ok: true, detail: "polls" } : { ok: false, detail: "the service does not answer" }),
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("channel closed"));
      await polling;
    },
  };
}

// ── inbound: an update → the door ───────────────────────────────────────────────────────────────────────────────────────────────

async function poll(deps: PlatformDeps, service: Parlour, signal: AbortSignal, heard: () => void): Promise<void> {
  using _connection = service.connect();
  while (!signal.aborted) {
    try {
      const updates = await orAborted(service.updates(), signal);
      heard();
      for (const update of updates) {
        await take(deps, update, service, signal);
        service.confirm(update.seq); // only now: what is not stored is brought again
      }
      if (updates.length > 0) continue;
    } catch (error) {
      if (!signal.aborted) deps.log.warn("updates not taken", { channel: "parlour", error });
    }
    await orAborted(Promise.race([deps.clock.sleep(POLL_MS, signal), service.changed()]), signal).catch(
      () => undefined,
    ); // being stopped is the normal end
  }
}

async function take(deps: PlatformDeps, update: ParlourUpdate, service: Parlour, signal: AbortSignal): Promise<void> {
  const about = {
    address: { channel: "parlour", account: "main", chat: update.chat },
    scope: update.group ? ("group" as const) : ("dm" as const),
    sender: { principal: `parlour:user:${update.by}` as Principal, name: update.by },
    mentioned: update.group,
  };
  const kind = update.kind === "edit" || update.kind === "action" ? update.kind : "message";
  const looked = await deps.door.look({ ...about, kind });
  if (looked.kind === "stay") {
    if (looked.say !== null) await service.post(update.chat, looked.say, signal);
    return;
  }
  const message: InboundMessage = {
    ...about,
    eventId: update.id,
    fingerprint: update.text,
    text: update.text,
    quoted: [],
    attachments: [],
    receivedAt: deps.clock.now(),
  };
  const receipt = await deps.door.receive(message, signal);
  if (receipt.kind === "refused" && receipt.say !== "") await service.post(update.chat, receipt.say, signal);
}

// ── outbound: a stored part → calls of the platform ─────────────────────────────────────────────────────────────────────────────

function outbound(service: Parlour, closing: AbortSignal): Pick<Channel, "send" | "edit" | "delete"> {
  return {
    async send({ message, to }, until) {
      const signal = AbortSignal.any([until, closing]);
      let providerId = "";
      for (const piece of pieces(message.text)) {
        const answer = await service.post(to.chat, piece, signal);
        if (answer.kind === "limited")
          throw new SendError("limited", "asked to wait", { retryAfterMs: answer.retryAfterMs });
        if (answer.kind === "gone") throw new SendError("permanent", "the chat is gone");
        if (answer.kind === "cut") throw new SendError("lost", "the answer was lost");
        providerId = answer.id;
      }
      return { providerId };
    },
    async edit({ to, messageId }, text) {
      return service.change(to.chat, messageId, text) ? { kind: "done" } : NOT_OURS;
    },
    async delete({ to, messageId }) {
      return service.change(to.chat, messageId, null) ? { kind: "done" } : NOT_OURS;
    },
  };
}

const NOT_OURS = { kind: "refused", because: "There is no message of yours with that id in this chat." } as const;

/** At spaces, because words are what people read. */
function pieces(text: string): readonly string[] {
  const found: string[] = [];
  for (let rest = text; rest !== "";) {
    const space = rest.length <= MAX_CHARS ? rest.length : rest.lastIndexOf(" ", MAX_CHARS);
    const end = space > 0 ? space : MAX_CHARS;
    found.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return found;
}

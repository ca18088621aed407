/** One prompt of an editor: said in its session, shown as it is answered, ended with its turn. */
import type { StopReason } from "@agentclientprotocol/sdk";
import { GatewayError } from "../../contracts/errors.ts";
import type { WireEvent } from "../../contracts/wire.ts";
import { deferred, orAborted } from "../../kit/deferred.ts";
import type { GatewaySocket } from "./gateway-socket.ts";
import { askApproval, askQuestion, type Editor } from "./permissions.ts";
import { textChunk, toolUpdate } from "./session-updates.ts";

interface Prompt {
  /** As the gateway knows the session: a full key or a short name. */
  readonly session: string;
  readonly text: string;
  readonly mediaIds: readonly string[];
  /** Equal for the same prompt. */
  readonly clientId: string;
}

interface PromptDeps {
  readonly socket: GatewaySocket;
  /** Told of what did not work beside the turn. */
  warn(error: unknown): void;
}

const WENT_AWAY = "The gateway went away in the middle of the answer. It is answered when the gateway is back.";
const LAST_ITEMS = 20;

/** Throws GatewayError when the message was not taken, or its turn has failed. After the signal the turn is stopped. */
export async function promptTurn(
  deps: PromptDeps,
  editor: Editor,
  prompt: Prompt,
  signal: AbortSignal,
): Promise<StopReason> {
  const { socket } = deps;
  const ended = deferred<TurnEnd>();
  const early: WireEvent[] = [];
  let follow: ((news: WireEvent) => void) | null = null;
  using _listening = socket.listen({
    event: (news) => (follow ? follow(news) : void early.push(news)),
    lost: () => ended.reject(new GatewayError("stopping", "the connection broke off", { say: WENT_AWAY })),
  });
  const { session, text, clientId, mediaIds } = prompt;
  const attachments = mediaIds.map((mediaId) => ({ mediaId }));
  const taken = await socket.ask("chat.send", { session, text, clientId, attachments });
  const turn = followTurn(deps, editor, taken, ended.resolve);
  follow = turn.see;
  early.splice(0).forEach(turn.see);
  try {
    const { outcome, turnId } = await orAborted(ended.promise, signal);
    await turn.shown();
    if (!turn.hasSpoken() || outcome === "failed") await showReply(socket, editor, { session, turnId, outcome });
    return outcome === "aborted" ? "cancelled" : "end_turn";
  } catch (error) {
    if (!signal.aborted) throw error;
    await socket.ask("chat.abort", { session });
    return "cancelled";
  }
}

interface TurnEnd {
  readonly outcome: "done" | "failed" | "aborted";
  readonly turnId: string;
}

/** `see` takes every event, in order; what is shown is sent one after the other. */
function followTurn(
  { socket, warn }: PromptDeps,
  editor: Editor,
  { accepted, sessionKey }: { readonly accepted: string; readonly sessionKey: string },
  end: (end: TurnEnd) => void,
) {
  const { client, sessionId, cwd } = editor;
  const begun = new Set<string>();
  let turnId: string | null = null;
  let spoken = false;
  let sending: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): void => {
    sending = sending.then(work).catch(warn);
  };
  const see = (news: WireEvent): void => {
    if (news.event === "turn.started" || news.event === "turn.joined") {
      if (news.data.inboxIds.some((id) => id === accepted)) ({ turnId } = news.data);
    } else if (news.event === "turn.delta" && news.data.turnId === turnId) {
      spoken = true;
      const update = textChunk(news.data.text);
      inOrder(() => client.notify("session/update", { sessionId, update }));
    } else if (news.event === "turn.tool" && news.data.turnId === turnId) {
      const update = toolUpdate(news.data, begun.has(news.data.callId), cwd);
      begun.add(news.data.callId);
      inOrder(() => client.notify("session/update", { sessionId, update }));
    } else if (news.event === "approval" && news.data.turnId === turnId && news.data.decision === null) {
      askApproval(socket, editor, news.data).catch(warn);
    } else if (news.event === "question" && news.data.turnId === turnId && news.data.end === null) {
      askQuestion(socket, editor, news.data).catch(warn);
    } else if (news.event === "turn.ended" && news.data.sessionKey === sessionKey) {
      const { inboxIds, outcome } = news.data;
      if (inboxIds.some((id) => id === accepted)) end({ outcome, turnId: news.data.turnId });
    }
  };
  return { see, hasSpoken: () => spoken, shown: () => sending };
}

/** What was not streamed: the reply of a command, or the notice of a turn that failed. */
async function showReply(
  socket: GatewaySocket,
  { client, sessionId }: Editor,
  { session, turnId, outcome }: TurnEnd & { readonly session: string },
): Promise<void> {
  const { items } = await socket.ask("sessions.get", { session, limit: LAST_ITEMS });
  const reply = items.filter((item) => item.turnId === turnId && item.role === "assistant" && item.text !== "");
  const text = reply.map((item) => item.text).join("\n\n");
  if (outcome === "failed") throw new GatewayError("internal", "the turn failed", { say: text || "The turn failed." });
  if (text !== "") await client.notify("session/update", { sessionId, update: textChunk(text) });
}

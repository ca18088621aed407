/** A completion that names a session: a message in it like any other, and the answer of its turn. Hanging up stops that turn. */
import { GatewayError } from "../../contracts/errors.ts";
import type { InboxId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { InSession, SessionAnswer, SessionPrompt } from "../../contracts/openai.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import { background } from "../../kit/background.ts";
import type { Identity } from "../access/auth.ts";
import { acceptMessage, ownSession } from "../chat/accept-message.ts";
import { followTurn } from "../chat/follow-turn.ts";
import { turnError } from "../chat/turn-error.ts";
import type { HttpDeps, ServerParts } from "../types.ts";

export type SessionDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages">;

export function inSession(
  deps: SessionDeps,
  { limits, stopping }: Pick<ServerParts, "limits" | "stopping">,
  by: Pick<Identity, "principal" | "key">,
): InSession {
  return async (said, show, signal) => {
    const { sessionKey } = ownSession(deps, said, by);
    using follower = followTurn(
      { clock: deps.clock, events: deps.events, live: deps.messages.live, turns: deps.store.turns },
      sessionKey,
    );
    const taken = await acceptMessage(deps, limits(), draftOf(deps, said, by), stopping);
    const begun = new Set<string>();
    follower.follow(taken.id, ({ event, data }) => {
      if (event === "delta") show({ type: "text", delta: data.text });
      if (event !== "tool" || begun.has(data.callId)) return;
      begun.add(data.callId);
      show({ type: "step" });
    });
    try {
      return answerOf(said, await follower.result(taken.id, signal));
    } catch (error) {
      if (signal.aborted)
        background(deps.log, "turn of a client that has gone not stopped", () =>
          stop(deps, { id: taken.id, principal: by.principal, sessionKey }),
        );
      throw error;
    }
  };
}

function draftOf({ ids }: SessionDeps, said: SessionPrompt, by: Pick<Identity, "principal" | "key">) {
  const { session, agent, text, images, results, client, idempotencyKey, digest } = said;
  return {
    session,
    agent,
    text,
    by,
    attachments: images.map(({ mimeType, base64 }, index) => ({
      name: `image-${index + 1}.${mimeType.split("/")[1] ?? "png"}`,
      mimeType,
      data: base64,
    })),
    eventId: idempotencyKey === null ? ids.next("openai") : `openai:${idempotencyKey}`,
    client: { request: client, results, digest },
  } as const;
}

interface Left {
  readonly id: InboxId;
  readonly principal: Principal;
  readonly sessionKey: SessionKey;
}

/** A message that waits is withdrawn; a turn that answers it, and nothing else, is stopped. */
async function stop({ messages }: SessionDeps, { id, principal, sessionKey }: Left): Promise<void> {
  const withdrawn = await messages.waiting.cancel(id, principal);
  if (withdrawn.kind === "cancelled") return;
  const running = messages.live.snapshot(sessionKey);
  if (running?.inboxIds.length === 1 && running.inboxIds[0] === id) messages.live.abort(sessionKey);
}

function answerOf({ client }: SessionPrompt, result: TurnResult): SessionAnswer {
  if (result.outcome === "failed") throw turnError(result);
  if (result.outcome === "aborted") throw new GatewayError("conflict", "turn stopped", { say: STOPPED });
  const isClient = (tool: string): boolean => client.tools.some(({ name }) => name === tool);
  const { turnId, sessionKey, content, usage, toolCalls } = result;
  return {
    turnId,
    sessionKey,
    text: content,
    usage,
    calls: toolCalls
      .filter(({ tool, status }) => isClient(tool) && status === "success")
      .map(({ tool, input, callId }) => ({ tool, input, callId })),
    toolCalls: toolCalls.filter(({ tool }) => !isClient(tool)).map(({ tool, status }) => ({ tool, status })),
  };
}

const STOPPED = "The answer was stopped before it was complete.";

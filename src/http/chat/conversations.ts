/** Conversations for doors that are no routes, by the same way as a chat completion that names a session. */
import type { ConversationName, Conversations } from "../../contracts/conversations.ts";
import { GatewayError } from "../../contracts/errors.ts";
import { isKeyPrincipal } from "../../contracts/api-keys.ts";
import type { Identity } from "../access/auth.ts";
import { hexDigest } from "../access/digests.ts";
import { inSession } from "../openai/in-session.ts";
import type { HttpDeps, ServerParts } from "../types.ts";
import { ownSession } from "./accept-message.ts";

type ConversationDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages" | "people">;

export function createConversations(
  deps: ConversationDeps,
  server: Pick<ServerParts, "limits" | "stopping">,
): Conversations {
  return {
    sessionOf: (asked) => ownSession(deps, asked, identityOf(deps, asked)).sessionKey,
    async say(said, show, signal) {
      const { session, agent, text, onceKey } = said;
      const prompt = {
        session,
        agent,
        text,
        images: [],
        results: [],
        client: { tools: [], instructions: "" },
        idempotencyKey: onceKey,
        digest: hexDigest(text),
      };
      const answer = await inSession(deps, server, identityOf(deps, said))(
        prompt,
        (progress) => progress.type === "text" && show(progress.delta),
        signal,
      );
      return { turnId: answer.turnId, text: answer.text, usage: answer.usage };
    },
  };
}

/** A key that was revoked meanwhile speaks no more. */
function identityOf(
  { people }: ConversationDeps,
  { principal }: ConversationName,
): Pick<Identity, "principal" | "key"> {
  const key = people.keys.of(principal);
  if (key === null && isKeyPrincipal(principal)) throw new GatewayError("unauthorized", "the key is gone");
  return { principal, key };
}

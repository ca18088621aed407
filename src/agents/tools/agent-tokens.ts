/** One token for each agent process. Only digests are kept; a token speaks for the session its process serves now and for nothing else. */
import type { AgentTokens } from "../../contracts/tools/agent-token.ts";
import type { ToolContext } from "../../contracts/tools/tool.ts";
import type { Ids } from "../../kit/ids.ts";
import { type Secret, secret } from "../../kit/secret.ts";

const TOKEN_BYTES = 32;

/** Of one process. Disposing revokes it. */
export interface AgentToken extends Disposable {
  readonly secret: Secret;
  serve(context: ToolContext | null): void;
}

export interface AgentTokenMint extends AgentTokens {
  issue(): AgentToken;
}

interface AgentTokenDeps {
  readonly ids: Ids;
  /** From now on the value is scrubbed from what is written. */
  hide(secret: Secret): Disposable | void;
}

export function createAgentTokens({ ids, hide }: AgentTokenDeps): AgentTokenMint {
  const issued = new Map<string, { context: ToolContext | null }>();
  return {
    issue() {
      const made = secret(ids.secret(TOKEN_BYTES));
      const hidden = hide(made);
      const key = digest(made.reveal());
      const entry: { context: ToolContext | null } = { context: null };
      issued.set(key, entry);
      return {
        secret: made,
        serve(context) {
          entry.context = context;
        },
        [Symbol.dispose]() {
          entry.context = null;
          issued.delete(key);
          hidden?.[Symbol.dispose]();
        },
      };
    },
    resolve: (token) => issued.get(digest(token))?.context ?? null,
    known: (token) => issued.has(digest(token)),
  };
}

/** Looked up by digest, so the time it takes says nothing about the token. */
function digest(token: string): string {
  return new Bun.CryptoHasher("sha256").update(token).digest("hex");
}

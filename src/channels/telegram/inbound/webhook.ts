/** Telegram calls us: nothing is read before the secret it was given is there, and "received" is said when the update is stored. */
import { timingSafeEqual } from "node:crypto";
import type { Update } from "grammy/types";
import type { Webhook, WebhookAnswer } from "../../../contracts/channels/platform.ts";
import { parseJson } from "../../../kit/json.ts";
import type { Log } from "../../../kit/log.ts";

const HEADER = "x-telegram-bot-api-secret-token";
const LIMITS = { maxChars: 1_000_000, maxDepth: 64 };
const answer = (status: number): WebhookAnswer => ({ status, json: { ok: status < 300 } });

export function createWebhook(
  deps: { readonly log: Log; take(update: Update, signal: AbortSignal): Promise<boolean> },
  options: { readonly path: string; readonly hosts: readonly string[]; readonly secret: string },
): Webhook {
  const expected = digest(options.secret);
  return {
    path: options.path,
    hosts: options.hosts,
    async handle({ headers, body }, signal) {
      if (!timingSafeEqual(digest(headers.get(HEADER) ?? ""), expected)) return answer(401);
      const parsed = parseJson(new TextDecoder().decode(body), LIMITS);
      if (!parsed.ok || !isUpdate(parsed.value)) return answer(400);
      const { value: update } = parsed;
      try {
        return answer((await deps.take(update, signal)) ? 200 : 503); // anything else is brought again
      } catch (error) {
        deps.log.error("update not stored yet", { updateId: update.update_id, error });
        return answer(503);
      }
    },
  };
}

function isUpdate(value: unknown): value is Update {
  return typeof value === "object" && value !== null && "update_id" in value && Number.isSafeInteger(value.update_id);
}

/** Of equal length, whatever was sent. */
function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** Interactions that Discord posts to the gateway's own address. Nothing is believed, or even parsed, before its signature is checked. */
import type { APIInteraction } from "discord-api-types/v10";
import type { Webhook, WebhookAnswer } from "../../../contracts/channels/platform.ts";
import type { Clock } from "../../../kit/clock.ts";
import { parseJson } from "../../../kit/json.ts";
import type { Log } from "../../../kit/log.ts";
import { WEBHOOK_PATH } from "../settings.ts";
import { callbackOf } from "./callback.ts";
import type { Interactions } from "./interactions.ts";
import { verifyRequest } from "./signature.ts";

interface WebhookDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly interactions: Interactions;
}

const JSON_LIMITS = { maxChars: 512 * 1024, maxDepth: 64 };
const REFUSED: WebhookAnswer = { status: 401 };
const BAD: WebhookAnswer = { status: 400 };
const NOT_HERE: WebhookAnswer = { status: 403 };
const BUSY: WebhookAnswer = { status: 503 };

export function discordWebhook({ clock, log, interactions }: WebhookDeps, publicKey: string): Webhook {
  return {
    path: WEBHOOK_PATH,
    async handle(request, signal) {
      const verdict = await verifyRequest(request, publicKey, clock.now());
      if (verdict !== "genuine") {
        log.warn("interaction refused", { because: verdict });
        return REFUSED;
      }
      const parsed = parseJson(new TextDecoder().decode(request.body), JSON_LIMITS);
      if (!parsed.ok || !isInteraction(parsed.value)) return BAD;
      const answer = await interactions.handle(parsed.value, signal);
      if (answer.kind === "busy") return BUSY;
      const json = callbackOf(answer);
      return json === null ? NOT_HERE : { status: 200, json };
    },
  };
}

/** The few fields that decide what it is; what else is read is looked at where it is used. */
function isInteraction(value: unknown): value is APIInteraction {
  if (typeof value !== "object" || value === null) return false;
  const { id, type, application_id } = value as Record<string, unknown>;
  return typeof id === "string" && typeof type === "number" && typeof application_id === "string";
}

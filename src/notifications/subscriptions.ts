/** Browsers that get notifications: who may be among them, a test for one, and the approvals that are decided in one. */
import type { Principal } from "../contracts/ids.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { Notifications } from "../contracts/notifications.ts";
import type { ApprovalStore } from "../contracts/store/approvals.ts";
import type { PushSubscriptionStore } from "../contracts/store/push-subscriptions.ts";
import type { Approvals } from "../contracts/tools/approval.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import { isDecisionToken } from "./decision-token.ts";
import type { PushKeys } from "./keys.ts";
import { TEST_NOTICE } from "./notices.ts";
import { isPushAddress, type PushSender, type SenderSettings } from "./sender.ts";

interface NotificationsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: PushKeys;
  readonly send: PushSender;
  readonly store: PushSubscriptionStore;
  readonly approvals: Pick<Approvals, "decide">;
  readonly asked: Pick<ApprovalStore, "openHash">;
}

interface NotificationSettings extends SenderSettings {
  readonly enabled: boolean;
}

/** More than one person carries. */
export const MAX_BROWSERS = 20;
const TEST_TTL_MS = 60_000;
const GATEWAY = "gateway";

export function createNotifications(deps: NotificationsDeps, settings: () => NotificationSettings): Notifications {
  const { clock, ids, keys, store } = deps;
  return {
    isEnabled: () => settings().enabled,
    publicKey: keys.publicKey,
    list: store.list,
    remove: (id, by: Principal) => store.remove(id, by),
    async subscribe(asked, by) {
      if (!isPushAddress(asked.endpoint, settings())) throw notCalled();
      const { principal, signIn } = by;
      const made = { ...asked, principal, signIn, id: ids.next("push"), createdAt: clock.now() };
      const stored = await store.put(made, MAX_BROWSERS);
      if (!stored) throw tooMany();
      return stored;
    },
    async test(id, signal) {
      const to = await store.find(id);
      if (!to)
        throw new GatewayError("not_found", "no such subscription", { say: "No such browser gets notifications." });
      const sent = { notice: TEST_NOTICE, urgency: "high", expiresAt: clock.now() + TEST_TTL_MS } as const;
      const outcome = await deps.send(to, sent, signal);
      if (outcome.kind === "gone") await store.remove(id, GATEWAY);
      else await store.note(id, { at: clock.now(), problem: outcome.kind === "failed" ? outcome.because : null });
      return outcome;
    },
    async decide({ approval, decision, token }, by) {
      const hash = await deps.asked.openHash(approval);
      if (hash === null) return "unknown";
      if (!isDecisionToken(keys.tokenKey, token, { approval, hash, decision }, by)) return "not_allowed";
      return deps.approvals.decide(approval, decision, by.principal, "notification");
    },
  };
}

function notCalled(): GatewayError {
  return new GatewayError("invalid_params", "the endpoint is not called", {
    say: "The address of this browser's push service is not called: it has to begin with https://, or to be named in notifications.pushServices.",
  });
}

function tooMany(): GatewayError {
  return new GatewayError("too_many_browsers", "as many subscriptions as can be");
}

/** Notifications in browsers: their keys, the way out, and what they are told of. */
import type { Notifications } from "../contracts/notifications.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { createNotifications, createPushSender, pushKeysOf, startNotifier } from "../notifications/index.ts";
import { openPushKey } from "../store/index.ts";
import { type Core, ofModule } from "./core.ts";
import type { People } from "./people.ts";
import type { Tools } from "./tools.ts";

export interface NotificationParts {
  readonly browsers: Notifications;
  /** Begins to tell browsers what happens at this gateway; others tell of theirs. */
  start(isSignedIn: (signIn: string) => Promise<boolean>): AsyncDisposable;
}

export function openNotifications(
  whole: Core,
  { people, tools }: { readonly people: Pick<People, "pairing">; readonly tools: Pick<Tools, "approvals"> },
): NotificationParts {
  const core = ofModule(whole, "notifications");
  const { clock, ids, log, config, options, secrets, store, nodes } = core;
  const keys = pushKeysOf(openPushKey({ ids, shared: config().store.secret }, options.home));
  const settings = () => config().notifications;
  const send = createPushSender({ clock, resolve: systemResolver, mask: secrets.mask, keys }, settings);
  const browsers = createNotifications(
    { clock, ids, keys, send, store: store.pushSubscriptions, approvals: tools.approvals, asked: store.approvals },
    settings,
  );
  const { pairing } = people;
  const { approvals, outbox } = store;
  const sources = { approvals, pairing, outbox, tokenKey: keys.tokenKey };
  return {
    browsers,
    start: (isSignedIn) =>
      startNotifier({
        clock,
        log,
        events: nodes.ownEvents,
        send,
        store: store.pushSubscriptions,
        sources,
        isEnabled: browsers.isEnabled,
        isSignedIn,
      }),
  };
}

/** What a gateway should have before somebody relies on it: a model, a channel, notifications, backups. Says how each is, and what to do. Pure. */
import type { SetupCheck } from "../contracts/setup.ts";
import type { GatewayStatus } from "../contracts/wire.ts";

interface SetupFacts extends Pick<GatewayStatus, "model" | "agentTrouble" | "channels" | "backup"> {
  /** No stranger can write to it: the web console, programs. */
  isOwnChannel(id: string): boolean;
  /** How many browsers get notifications; null: this gateway sends none. */
  readonly notifiedBrowsers: number | null;
}

export function setupChecks(facts: SetupFacts): readonly SetupCheck[] {
  return [
    { check: "model", ...modelCheck(facts) },
    { check: "channel", ...channelCheck(facts) },
    { check: "notifications", ...notificationCheck(facts) },
    { check: "backup", ...backupCheck(facts.backup) },
  ];
}

type Found = Omit<SetupCheck, "check">;

function notificationCheck({ notifiedBrowsers }: SetupFacts): Found {
  if (notifiedBrowsers === null) return NO_NOTIFICATIONS;
  if (notifiedBrowsers === 0)
    return {
      done: false,
      say: "No browser gets notifications: switch them on where you want to be told of approvals.",
    };
  const browsers = notifiedBrowsers === 1 ? "One browser gets" : `${notifiedBrowsers} browsers get`;
  return { done: true, say: `${browsers} notifications.` };
}

const NO_NOTIFICATIONS: Found = {
  done: false,
  say: "Not set up: nothing tells you when an approval waits and this page is closed. An owner on Telegram or Discord is told there.",
};

function modelCheck({ model, agentTrouble }: SetupFacts): Found {
  if (agentTrouble !== null) return { done: false, say: agentTrouble };
  if (model.demo)
    return {
      done: false,
      say: "The demo model answers by rules. Enter a key, use a pi login, or name a model server.",
    };
  return {
    done: true,
    say:
      model.name === null
        ? "A model is set; its name is known when the first agent has started."
        : `${model.name} answers.`,
  };
}

function channelCheck({ channels, isOwnChannel }: SetupFacts): Found {
  const others = channels.filter(({ id }) => !isOwnChannel(id));
  const connected = others.filter(({ ok }) => ok).map(({ id }) => id);
  if (connected.length > 0)
    return { done: true, say: `${connected.join(", ")} ${connected.length === 1 ? "is" : "are"} connected.` };
  const [broken] = others;
  if (broken) return { done: false, say: `${broken.id} is not connected: ${broken.detail}` };
  return {
    done: false,
    say: "You can write from this page alone. Connect a bot of Telegram or Discord to write from your phone.",
  };
}

function backupCheck({ everyMs, newestAt, failure, folder }: GatewayStatus["backup"]): Found {
  if (failure !== null) return { done: false, say: `The last backup failed: ${failure}` };
  if (everyMs !== null) return { done: true, say: `Backups are made by themselves, in ${folder}.` };
  if (newestAt !== null) return { done: true, say: `There is a backup in ${folder}. No other is made by itself.` };
  return { done: false, say: "There is no backup, and none is made by itself." };
}

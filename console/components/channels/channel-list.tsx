/** A card for each account of a channel: connected or not, what passed last, and who may write. */
import { useEffect } from "preact/hooks";
import type { ChannelAccessCard, ChannelCard } from "../../../src/contracts/channels/channel-cards.ts";
import { ago } from "../../net/error-text.ts";
import { openSetting } from "../../state/palette.ts";
import { ADDRESSES } from "../../state/route.ts";
import { cards, followChannels } from "../../state/channels-state.ts";
import { FactList } from "../parts/fact-list.tsx";
import { Icon } from "../icons.tsx";

export function ChannelList() {
  useEffect(followChannels, []);
  const now = cards.value;
  return (
    <section class="part">
      <h2 class="hidden">Channels</h2>
      {now === null && <p class="list-note">Reading…</p>}
      {now === "failed" && <p class="list-note">The channels could not be read. Is the gateway connected?</p>}
      <ul class="cards" aria-label="Channels">
        {now !== null &&
          now !== "failed" &&
          now.map((card) => (
            <li key={card.id}>
              <OneChannel card={card} />
            </li>
          ))}
      </ul>
      <p class="about">
        <a class="quiet small edged" href={`${ADDRESSES.setup}/channel`}>
          Connect a channel
        </a>{" "}
        takes the token of a bot and tries it.
      </p>
    </section>
  );
}

function OneChannel({ card }: { readonly card: ChannelCard }) {
  const { id, ok, detail, own, access, lastReceived, lastSent, lastLost } = card;
  const now = Date.now();
  const facts: readonly (readonly [string, string])[] = [
    [
      "Last message",
      lastReceived === null ? "none yet" : `${agoText(lastReceived.at, now)}, from ${lastReceived.from}`,
    ],
    ["Last reply", lastSent === null ? "none yet" : agoText(lastSent, now)],
    ...(lastLost === null ? [] : [["Lost reply", `${agoText(lastLost.at, now)}: ${lastLost.because}`] as const]),
    ["Who may write", own ? "you, and programs with a key" : directText(access)],
    ...(own ? [] : [["Groups", groupText(access)] as const]),
  ];
  return (
    <div class="tool card" data-testid="channel" data-status={ok ? "success" : "error"}>
      <h3>
        <span class="tool-status">
          <Icon name={ok ? "check" : "alert"} size={16} />
        </span>
        {id}
        <small dir="auto">{detail || (ok ? "connected" : "not connected")}</small>
      </h3>
      <FactList facts={facts} />
      {!own && (
        <button
          type="button"
          class="quiet small edged"
          aria-label={`Settings of ${id}`}
          onClick={() => void openSetting(`channels.${id.split("/", 1)[0]}`)}
        >
          Settings
        </button>
      )}
    </div>
  );
}

function agoText(at: number, now: number): string {
  const text = ago(at, now);
  return text === "now" ? "just now" : /^\d+ (?:min|h|d)$/.test(text) ? `${text} ago` : text;
}

const DIRECT: Readonly<Record<ChannelAccessCard["dm"], string>> = {
  pairing: "people whose pairing code you approved",
  allowlist: "those that the configuration lists",
  open: "everybody, where the list says so",
  disabled: "nobody directly",
};

function directText({ dm }: ChannelAccessCard): string {
  return DIRECT[dm];
}

function groupText({ group, requireMention, groups }: ChannelAccessCard): string {
  if (group === "disabled" || (group === "allowlist" && groups === 0)) return "no groups";
  const which =
    group === "open" ? "every group" : groups === 1 ? "the one that is listed" : `the ${groups} that are listed`;
  return `${which}${requireMention ? ", when mentioned" : ""}`;
}

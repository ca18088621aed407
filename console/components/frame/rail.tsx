/** The rail of areas: at the side of a wide window, a bar at the bottom of a phone, where More leads to what has no room. */
import { openKey, view } from "../../state/console-state.ts";
import { ADDRESSES, hashOf } from "../../state/route.ts";
import { drawer } from "../../state/screen.ts";
import { inboxCount } from "../../state/inbox-state.ts";
import { openPalette } from "../../state/palette.ts";
import { Icon, type IconName, Logo } from "../icons.tsx";
import { AREAS, type Area } from "./areas.ts";

/** Two digits are what there is room for. */
const MAX_COUNT = 99;

export function Rail() {
  const more = AREAS.filter(({ onPhone }) => !onPhone).flatMap(({ views }) => views);
  // Tab reaches every area in few stops: in Chat from the front, where a skip link comes first, elsewhere from the back.
  const afterAreas = view.value === "chat";
  return (
    <nav class="rail" aria-label="Areas" inert={drawer.value}>
      <Logo />
      {!afterAreas && <FindButton />}
      <ul>
        {AREAS.map((area) => (
          <li key={area.name} class={area.onPhone ? undefined : "wide"}>
            <RailLink
              {...area}
              href={area.address ?? hashOf(openKey.value)}
              here={area.views.includes(view.value)}
              count={area.name === "Inbox" ? inboxCount.value : 0}
            />
          </li>
        ))}
        <li class="narrow">
          <RailLink
            name="More"
            icon="menu"
            href={ADDRESSES.more}
            here={view.value === "more" || more.includes(view.value)}
          />
        </li>
      </ul>
      {afterAreas && <FindButton />}
    </nav>
  );
}

function FindButton() {
  return (
    <button
      type="button"
      class="icon-button rail-find"
      aria-label="Find"
      title="Find a conversation, view, command, job or setting (Ctrl+K)"
      onClick={openPalette}
    >
      <Icon name="search" />
    </button>
  );
}

interface RailLinkProps extends Pick<Area, "name"> {
  readonly icon: IconName;
  readonly href: string;
  readonly here: boolean;
  /** How many things wait there. */
  readonly count?: number;
}

function RailLink({ name, icon, href, here, count = 0 }: RailLinkProps) {
  return (
    <a href={href} aria-current={here ? "page" : undefined}>
      <Icon name={icon} />
      <span class="rail-name">{name}</span>
      {count > 0 && (
        <span class="count" data-testid="inbox-count">
          {Math.min(count, MAX_COUNT)}
          <span class="hidden"> waiting</span>
        </span>
      )}
    </a>
  );
}

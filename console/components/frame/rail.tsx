/** The rail of areas: at the side of a wide window, a bar at the bottom of a phone, where More leads to what has no room. */
import { openKey, view } from "../../state/console-state.ts";
import { ADDRESSES, hashOf } from "../../state/route.ts";
import { drawer } from "../../state/screen.ts";
import { openPalette } from "../../state/palette.ts";
import { Icon, type IconName, Logo } from "../icons.tsx";
import { SignOutButton, ThemeButton } from "./own-buttons.tsx";
import { AREAS, type Area } from "./areas.ts";

export function Rail() {
  const more = AREAS.filter(({ onPhone }) => !onPhone).flatMap(({ views }) => views);
  return (
    <nav class="rail" aria-label="Areas" inert={drawer.value}>
      <Logo />
      <ul>
        {AREAS.map((area) => (
          <li key={area.name} class={area.onPhone ? undefined : "wide"}>
            <RailLink {...area} href={area.address ?? hashOf(openKey.value)} here={area.views.includes(view.value)} />
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
      <div class="rail-foot">
        <button
          type="button"
          class="icon-button"
          aria-label="Find"
          title="Find a conversation, view, command or job (Ctrl+K)"
          onClick={openPalette}
        >
          <Icon name="search" />
        </button>
        <ThemeButton short />
        <SignOutButton short />
      </div>
    </nav>
  );
}

interface RailLinkProps extends Pick<Area, "name"> {
  readonly icon: IconName;
  readonly href: string;
  readonly here: boolean;
}

function RailLink({ name, icon, href, here }: RailLinkProps) {
  return (
    <a href={href} aria-current={here ? "page" : undefined}>
      <Icon name={icon} />
      <span class="rail-name">{name}</span>
    </a>
  );
}

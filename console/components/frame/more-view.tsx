/** What has no room in the bar of a phone: the other areas, finding, theme, signing out. */
import { openPalette } from "../../state/palette.ts";
import { Icon } from "../icons.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { SignOutButton, ThemeButton } from "./own-buttons.tsx";
import { AREAS } from "./areas.ts";

export function MoreView() {
  return (
    <ViewFrame name="More" testId="more-view">
      <ul class="more-list">
        {AREAS.filter(({ onPhone }) => !onPhone).map(({ name, icon, address }) => (
          <li key={name}>
            <a href={address ?? "#"}>
              <Icon name={icon} /> {name}
            </a>
          </li>
        ))}
      </ul>
      <div class="approval-buttons">
        <button type="button" class="quiet edged" onClick={openPalette}>
          <Icon name="search" /> Find
        </button>
        <ThemeButton />
        <SignOutButton />
      </div>
    </ViewFrame>
  );
}

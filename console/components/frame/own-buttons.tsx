/** What concerns this browser alone: its theme, and signing out. */
import { leave } from "../../state/console-state.ts";
import { nextTheme, theme } from "../../state/theme.ts";
import { Icon } from "../icons.tsx";

const THEME_WORDS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" } as const;

export function ThemeButton() {
  const now = theme.value;
  return (
    <button type="button" class="quiet edged" onClick={nextTheme}>
      <Icon name={now} /> {THEME_WORDS[now]}
    </button>
  );
}

export function SignOutButton() {
  return (
    <button type="button" class="quiet edged" onClick={() => void leave()}>
      <Icon name="leave" /> Sign out
    </button>
  );
}

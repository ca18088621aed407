/** What concerns this browser alone: its theme, and signing out. In the rail as an icon, elsewhere with its words. */
import { leave } from "../../state/console-state.ts";
import { nextTheme, theme } from "../../state/theme.ts";
import { Icon } from "../icons.tsx";

const THEME_WORDS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" } as const;

interface Props {
  readonly short?: boolean;
}

export function ThemeButton({ short = false }: Props) {
  const now = theme.value;
  return (
    <button
      type="button"
      class={short ? "icon-button" : "quiet edged"}
      aria-label={THEME_WORDS[now]}
      title={THEME_WORDS[now]}
      onClick={nextTheme}
    >
      <Icon name={now} /> {!short && THEME_WORDS[now]}
    </button>
  );
}

export function SignOutButton({ short = false }: Props) {
  return (
    <button
      type="button"
      class={short ? "icon-button" : "quiet edged"}
      aria-label="Sign out"
      title="Sign out"
      onClick={() => void leave()}
    >
      <Icon name="leave" /> {!short && "Sign out"}
    </button>
  );
}

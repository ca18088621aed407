/** How the gateway is: what it finds when it looks at itself, what it says of itself, what it has stored, and what concerns this browser. */
import { refreshStatus, status } from "../../state/console-state.ts";
import { minute } from "../../state/screen.ts";
import { SignOutButton, ThemeButton } from "../frame/own-buttons.tsx";
import { useReading } from "../parts/use-reading.ts";
import { ViewFrame } from "../parts/view-frame.tsx";
import { Backups } from "./backups.tsx";
import { Checks } from "./checks.tsx";
import { GatewayFacts } from "./gateway-facts.tsx";
import { Restart } from "./restart.tsx";
import { Stored } from "./stored.tsx";
import { Version } from "./version.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

export function HealthView() {
  useReading(refreshStatus, [minute.value]); // events tell of changes, and not of time that passes
  return (
    <ViewFrame name="System" testId="health-view" tabs={SYSTEM_TABS}>
      <section class="part">
        <h2>Health</h2>
        <Checks />
      </section>
      {status.value && (
        <section class="part">
          <h2>Gateway</h2>
          <GatewayFacts status={status.value} />
        </section>
      )}
      <Version />
      <Restart />
      <Backups />
      <Stored />
      <section class="part">
        <h2>This browser</h2>
        <div class="approval-buttons">
          <ThemeButton />
          <SignOutButton />
        </div>
      </section>
    </ViewFrame>
  );
}

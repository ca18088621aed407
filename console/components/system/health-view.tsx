/** How the gateway is: what is not in order, what it says of itself, and what concerns this browser. */
import { line, status } from "../../state/console-state.ts";
import { problemsOf } from "../../state/problems.ts";
import { SignOutButton, ThemeButton } from "../frame/own-buttons.tsx";
import { Icon } from "../icons.tsx";
import { ViewFrame } from "../parts/view-frame.tsx";
import { GatewayFacts } from "./gateway-facts.tsx";
import { SYSTEM_TABS } from "./system-tabs.ts";

export function HealthView() {
  const problems = problemsOf(status.value, line.value !== "open");
  return (
    <ViewFrame name="System" testId="health-view" tabs={SYSTEM_TABS}>
      <section class="part">
        <h2>Health</h2>
        {problems.length === 0 && <p class="about">Everything works.</p>}
        <ul class="tool-list" aria-label="Problems">
          {problems.map(({ id, text }) => (
            <li key={id}>
              <div class="tool" data-status="error">
                <div class="row-line">
                  <span class="tool-status">
                    <Icon name="alert" size={16} />
                  </span>
                  <span dir="auto">{text}</span>
                </div>
              </div>
            </li>
          ))}
        </ul>
      </section>
      {status.value && (
        <section class="part">
          <h2>Gateway</h2>
          <GatewayFacts status={status.value} />
        </section>
      )}
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

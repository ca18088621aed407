/** What the gateway finds when it looks at itself: what is broken first, then what is worth knowing, then what is fine. */
import { useEffect } from "preact/hooks";
import type { HealthCheck } from "../../../src/contracts/system-api.ts";
import { line, status } from "../../state/console-state.ts";
import { checks, readChecks } from "../../state/system-state.ts";
import { Icon } from "../icons.tsx";

const ORDER: readonly HealthCheck["state"][] = ["broken", "note", "ok"];
const LOOKS = { broken: ["error", "alert"], note: ["pending", "unknown"], ok: ["success", "check"] } as const;

export function Checks() {
  useEffect(() => void readChecks(), [status.value, line.value]); // whatever changes is told with the status
  const now = checks.value;
  if (now === null) return <p class="about">Looking…</p>;
  if (now === "failed") return <p class="about">The checks could not be read. Is the gateway connected?</p>;
  const sorted = now.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <ul class="checks" aria-label="Checks">
      {sorted.map(({ check, state, say }) => {
        const [look, icon] = LOOKS[state];
        return (
          <li key={`${check} ${say}`} data-testid="check" data-state={state} data-status={look}>
            <span class="tool-status">
              <Icon name={icon} size={16} />
            </span>
            <strong>{check}</strong>
            <span dir="auto">{say}</span>
          </li>
        );
      })}
    </ul>
  );
}

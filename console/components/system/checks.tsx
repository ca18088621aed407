/** What the gateway finds when it looks at itself: what is broken first, then what is worth knowing, then what is fine. */
import { useEffect } from "preact/hooks";
import type { HealthCheck } from "../../../src/contracts/system-api.ts";
import { line, status } from "../../state/console-state.ts";
import { ADDRESSES } from "../../state/route.ts";
import { checks, fixCheck, fixSaid, readChecks } from "../../state/system-state.ts";
import { Icon } from "../icons.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

const ORDER: readonly HealthCheck["state"][] = ["broken", "note", "ok"];
const FIX_WORDS = {
  modes: "Make private",
  settings: "Go back to the last good settings",
  backup: "Back up now",
  audit: "Verify now",
  token: "Make a new token",
} as const;
const LOOKS = { broken: ["error", "alert"], note: ["pending", "unknown"], ok: ["success", "check"] } as const;

export function Checks() {
  useEffect(() => void readChecks(), [status.value, line.value]); // whatever changes is told with the status
  const now = checks.value;
  if (now === null) return <p class="about">Looking…</p>;
  if (now === "failed") return <p class="about">The checks could not be read. Is the gateway connected?</p>;
  const sorted = now.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <>
      <Said />
      <ul class="checks" aria-label="Checks">
        {sorted.map(({ check, state, say, fix }) => {
          const [look, icon] = LOOKS[state];
          return (
            <li key={`${check} ${say}`} data-testid="check" data-state={state} data-status={look}>
              <span class="tool-status">
                <Icon name={icon} size={16} />
              </span>
              <strong>{check}</strong>
              <span class="said" dir="auto">
                {say}
              </span>
              {fix !== undefined && <FixButton fix={fix} check={check} />}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** What the last fix did, for eyes and for screen readers. */
function Said() {
  if (fixSaid.value === null) return null;
  return (
    <p class="setup-good" role="status" data-testid="fix-said" dir="auto">
      {fixSaid.value}
    </p>
  );
}

function FixButton({ fix, check }: { readonly fix: NonNullable<HealthCheck["fix"]>; readonly check: string }) {
  const { busy, problem, run } = useAction();
  if (fix === "token")
    return (
      <a class="quiet small edged" href={ADDRESSES.browsers}>
        {FIX_WORDS.token}
      </a>
    );
  return (
    <>
      <button
        type="button"
        class="quiet small edged"
        disabled={busy}
        aria-label={`${FIX_WORDS[fix]}: ${check}`}
        onClick={() => void run(() => fixCheck(fix))}
      >
        {busy ? "Working…" : FIX_WORDS[fix]}
      </button>
      <Problem text={problem} />
    </>
  );
}

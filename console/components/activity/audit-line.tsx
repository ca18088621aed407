/** Whether the audit log is what the gateway wrote, as far as it was looked at, and a button that looks. */
import type { AuditVerification } from "../../../src/contracts/store/tool-calls.ts";
import { verification, verifyAuditLog, verifying } from "../../state/activity-state.ts";
import { Icon } from "../icons.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";
import { dateText } from "../../text/dates.ts";

export function AuditLine() {
  const { busy, problem, run } = useAction();
  const found = verification.value;
  if (found === "unread") return <div class="audit-line" aria-busy="true" />;
  const state = found === null ? "none" : found.kind;
  return (
    <div class="audit-line" data-testid="audit-line" data-state={state}>
      <Icon name={state === "intact" ? "check" : state === "none" ? "unknown" : "alert"} size={16} />
      <p>{found === null ? "The audit log was not verified since the gateway started." : sentenceOf(found)}</p>
      <button type="button" class="quiet small edged" disabled={busy} onClick={() => void run(verifyAuditLog)}>
        {verifying.value ? "Verifying…" : "Verify now"}
      </button>
      <Problem text={problem} />
      {found !== null && found.findings.length > 0 && (
        <ul>
          {found.findings.map((finding) => (
            <li key={finding}>{finding}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function sentenceOf({ kind, at, calls, entries }: AuditVerification): string {
  const when = dateText(at, "whole");
  if (kind === "intact")
    return `Audit log verified at ${when}: ${calls.toLocaleString()} tool calls and ${entries.toLocaleString()} other entries are as they were written.`;
  return kind === "tampered"
    ? `The audit log is not what the gateway wrote (verified at ${when}). Keep a copy of the state directory before you go on.`
    : `The audit log could not be verified at ${when}.`;
}

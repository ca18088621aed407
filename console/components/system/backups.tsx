/** How backups are: the newest one, how often one is made by itself, and a button that makes one now. */
import { useSignal } from "@preact/signals";
import type { GatewayStatus } from "../../../src/contracts/wire.ts";
import { status } from "../../state/console-state.ts";
import { ADDRESSES } from "../../state/route.ts";
import { makeBackup } from "../../state/system-state.ts";
import { dateText } from "../../text/dates.ts";
import { Problem, useAction } from "../parts/use-action.tsx";

export function Backups() {
  const said = useSignal("");
  const { busy, problem, run } = useAction();
  const backup = status.value?.backup;
  if (!backup) return null;
  const make = () =>
    void run(async () => {
      const answer = await makeBackup();
      said.value = answer.ok ? answer.value.say : "";
      return answer.ok ? null : answer.error.message;
    });
  return (
    <section class="part">
      <h2>Backups</h2>
      <p class="about" data-testid="backup-line">
        {backupText(backup)} {backup.everyMs === null && <a href={ADDRESSES.setup}>Have them made by themselves</a>}
      </p>
      <button type="button" class="quiet small edged" disabled={busy} onClick={make}>
        {busy ? "Working…" : "Make a backup"}
      </button>
      <Problem text={problem} />
      <p class="about" role="status" data-testid="backup-said" dir="auto">
        {said.value}
      </p>
    </section>
  );
}

function backupText({ failure, everyMs, newestAt, folder }: NonNullable<GatewayStatus["backup"]>): string {
  if (failure !== null) return `The last backup failed: ${failure}`;
  if (newestAt !== null) return `Newest backup: ${dateText(newestAt, "whole")}, in ${folder}.`;
  return everyMs === null ? "No backup is made by itself." : `Backups go to ${folder}. None was made yet.`;
}

/** What the gateway has stored, how old it is and how long it is kept; and its backups. */
import { sizeText } from "../../net/files.ts";
import { ago } from "../../net/error-text.ts";
import { status } from "../../state/console-state.ts";
import { readStorage, storage } from "../../state/system-state.ts";
import { Table } from "../parts/table.tsx";
import { useReading } from "../parts/use-reading.ts";
import { dateText } from "../../text/dates.ts";

export function Stored() {
  useReading(readStorage);
  const now = storage.value;
  return (
    <section class="part">
      <h2>Stored</h2>
      <p class="about" data-testid="backup-line">
        {backupText()}
      </p>
      {now === "failed" && <p class="about">What is stored could not be read.</p>}
      {now !== null && now !== "failed" && (
        <Table
          name="Stored"
          columns={["Kind", "Rows", "Size", "Oldest", "Kept"]}
          rows={now.kinds}
          keyOf={({ kind }) => kind}
          cells={({ kind, rows, bytes, oldestAt, keepDays }) => [
            kind,
            rows.toLocaleString(),
            sizeText(bytes),
            oldestAt === null ? "" : ago(oldestAt, Date.now()),
            keepDays === null ? "" : keepDays === 0 ? "for ever" : `${keepDays} days`,
          ]}
        />
      )}
    </section>
  );
}

function backupText(): string {
  const backup = status.value?.backup;
  if (!backup) return "";
  if (backup.failure !== null) return `The last backup failed: ${backup.failure}`;
  if (backup.everyMs === null) return "No backup is made by the clock (backup.every). pi-gw backup makes one now.";
  if (backup.newestAt === null) return `Backups go to ${backup.folder}. None was made yet.`;
  return `Newest backup: ${dateText(backup.newestAt, "whole")}, in ${backup.folder}.`;
}

/** What the gateway has stored, how old it is and how long it is kept. */
import type { StorageReport } from "../../../src/contracts/storage.ts";
import { sizeText } from "../../net/files.ts";
import { ago } from "../../net/error-text.ts";
import { readStorage, storage } from "../../state/system-state.ts";
import { Table } from "../parts/table.tsx";
import { useReading } from "../parts/use-reading.ts";

export function Stored() {
  useReading(readStorage);
  const now = storage.value;
  return (
    <section class="part">
      <h2>Stored</h2>
      {now === "failed" && <p class="about">What is stored could not be read.</p>}
      {now !== null && now !== "failed" && (
        <>
          <p class="about" data-testid="stored-line">
            {storedText(now)}
          </p>
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
        </>
      )}
    </section>
  );
}

/** The database, and folders of the state directory in which there is something. */
function storedText({ databaseBytes, folders }: StorageReport): string {
  const full = folders.filter(({ files }) => files > 0);
  const parts = full.map(({ folder, files, bytes }) => {
    const count = files === 1 ? "1 file" : `${files.toLocaleString()} files`;
    return `${folder}: ${count}, ${sizeText(bytes)}`;
  });
  return [`Database: ${sizeText(databaseBytes)}`, ...parts].join(" · ");
}

/** `pi-gw storage`: how much the running gateway has stored of everything that grows, and how long it keeps it. */
import { visible } from "../observe/index.ts";
import { printAnswer } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];
const COLUMNS = [14, 11, 11, 12] as const;

export function storage(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/storage" }, (report) => reportLines(report).join("\n"));
}

function reportLines(report: Fields): readonly string[] {
  return [
    `The database has ${sizeText(numberOf(report["databaseBytes"]))}.`,
    row("kind", "rows", "size", "oldest", "kept"),
    ...listOf(report["kinds"]).map((kind) => kindRow(recordOf(kind))),
    "Folders of the state directory:",
    ...listOf(report["folders"]).map((folder) => folderRow(recordOf(folder))),
  ];
}

function kindRow(kind: Fields): string {
  const oldest = kind["oldestAt"] === null ? "-" : new Date(numberOf(kind["oldestAt"])).toISOString().slice(0, 10);
  return row(
    textOf(kind["kind"]),
    numberOf(kind["rows"]).toLocaleString("en-US"),
    sizeText(numberOf(kind["bytes"])),
    oldest,
    keptText(kind),
  );
}

function keptText({ keepDays, setting }: Fields): string {
  if (keepDays === null) return "as long as it is needed";
  const days = numberOf(keepDays);
  return `${days === 0 ? "for ever" : `${days} days`} (${textOf(setting)})`;
}

function folderRow(folder: Fields): string {
  const files = numberOf(folder["files"]).toLocaleString("en-US");
  return row(textOf(folder["folder"]), files, sizeText(numberOf(folder["bytes"])), "", "").trimEnd();
}

function row(...[kind = "", ...cells]: readonly string[]): string {
  const [nameWidth, ...widths] = COLUMNS;
  const padded = cells.map((cell, at) => (widths[at] === undefined ? `  ${cell}` : cell.padStart(widths[at])));
  return visible(`${kind.padEnd(nameWidth)}${padded.join("")}`);
}

function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** unit;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit]}`;
}

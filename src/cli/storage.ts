/** `pi-gw storage`: how much the running gateway has stored of everything that grows, and how long it keeps it. */
import { printAnswer } from "./ask-gateway.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "./read-value.ts";
import { type Column, tableLines } from "./table.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function storage(world: CliWorld, flags: CommonFlags): Promise<number> {
  return printAnswer(world, flags, { path: "/api/storage" }, (report) => reportLines(world, report).join("\n"));
}

function reportLines(world: CliWorld, report: Fields): readonly string[] {
  return [
    `The database has ${sizeText(numberOf(report["databaseBytes"]))}.`,
    ...tableLines(world, KINDS, listOf(report["kinds"]).map(recordOf)),
    "",
    ...tableLines(world, FOLDERS, listOf(report["folders"]).map(recordOf)),
  ];
}

const KINDS: readonly Column<Fields>[] = [
  ["KIND", ({ kind }) => textOf(kind)],
  ["ROWS", ({ rows }) => numberOf(rows).toLocaleString("en-US")],
  ["SIZE", ({ bytes }) => sizeText(numberOf(bytes))],
  ["OLDEST", ({ oldestAt }) => (oldestAt === null ? "-" : new Date(numberOf(oldestAt)).toISOString().slice(0, 10))],
  ["KEPT", keptText],
];

const FOLDERS: readonly Column<Fields>[] = [
  ["FOLDER", ({ folder }) => textOf(folder)],
  ["FILES", ({ files }) => numberOf(files).toLocaleString("en-US")],
  ["SIZE", ({ bytes }) => sizeText(numberOf(bytes))],
];

function keptText({ keepDays, setting }: Fields): string {
  if (keepDays === null) return "as long as it is needed";
  const days = numberOf(keepDays);
  return `${days === 0 ? "for ever" : `${days} days`} (${textOf(setting)})`;
}

function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** unit;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${UNITS[unit]}`;
}

/**
 * What the last start found out about each folder that agents work in, in one file of the state directory. By it a start notices that a
 * folder has become each person's, or everybody's again, and goes on with a move of files that was interrupted.
 */
import { join, relative, sep } from "node:path";
import { readPrivateJson, writePrivateJson } from "../../store/index.ts";

const FILE = "workspaces.json";
const MAX_CHARS = 1_000_000;

export interface FolderRecord {
  readonly scope: "agent" | "person";
  /** At some time people had folders of their own in it, so what is in `people/` may be theirs. */
  readonly hadPeople: boolean;
  /** A move that was begun. */
  readonly moving?: Moving;
  /** What the owner was told about it last. */
  readonly note?: Note;
}

export interface Moving {
  /** Where the files go, below the folder. */
  readonly into: string;
  /** The backup from before. */
  readonly backup: string;
}

interface Note {
  readonly at: number;
  readonly say: string;
}

export interface Records {
  /** Null: no start has looked at this folder. */
  of(folder: string): FolderRecord | null;
  /** On the disk when it returns. */
  put(folder: string, record: FolderRecord): void;
  /** Forgets every folder but these. */
  keepOnly(folders: readonly string[]): void;
}

/** A file that is missing or damaged holds none: then nothing is known about the folders. */
export function openRecords(home: string): Records {
  const file = join(home, FILE);
  const records = new Map(Object.entries(readAll(file)));
  let written = JSON.stringify([...records]);
  const save = (): void => {
    const text = JSON.stringify([...records]);
    if (text === written) return; // a start changes nothing as a rule
    writePrivateJson(file, { folders: Object.fromEntries(records) });
    written = text;
  };
  // below the state directory by a relative path, so that a state directory can be moved
  const keyOf = (folder: string): string => (folder.startsWith(`${home}${sep}`) ? relative(home, folder) : folder);
  return {
    of: (folder) => records.get(keyOf(folder)) ?? null,
    put(folder, record) {
      records.set(keyOf(folder), record);
      save();
    },
    keepOnly(folders) {
      const kept = new Set(folders.map(keyOf));
      for (const key of [...records.keys()]) if (!kept.has(key)) records.delete(key);
      save();
    },
  };
}

function readAll(file: string): Readonly<Record<string, FolderRecord>> {
  const value = readPrivateJson(file, MAX_CHARS);
  if (!isObject(value) || !isObject(value["folders"])) return {};
  const entries = Object.entries(value["folders"]);
  return Object.fromEntries(entries.flatMap(([key, entry]) => (isRecord(entry) ? [[key, entry]] : [])));
}

function isRecord(value: unknown): value is FolderRecord {
  if (!isObject(value)) return false;
  const { scope, hadPeople, moving, note } = value;
  return (
    (scope === "agent" || scope === "person") &&
    typeof hadPeople === "boolean" &&
    (moving === undefined || (isObject(moving) && isText(moving["into"]) && isText(moving["backup"]))) &&
    (note === undefined || (isObject(note) && typeof note["at"] === "number" && isText(note["say"])))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

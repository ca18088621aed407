/** The file in which the tools of a server are remembered, so that they are there before the server is started. */
import { join } from "node:path";
import { isObject } from "../../kit/json.ts";
import { readPrivateJson, writePrivateJson } from "../../store/index.ts";
import type { Catalog, KnownTool } from "./catalog.ts";

const MAX_FILE_CHARS = 64 * 1024 * 1024;
const FORM = 2;

export interface CatalogFile {
  /** Null: there is none that can be read. */
  read(): Catalog | null;
  write(catalog: Catalog): void;
}

export function serverFolder(home: string, name: string): string {
  return join(home, "mcp", name);
}

/** Of its login. */
export function credentialsPath(home: string, name: string): string {
  return join(serverFolder(home, name), "oauth.json");
}

export function catalogFile(home: string, name: string): CatalogFile {
  const path = join(serverFolder(home, name), "tools.json");
  return {
    read() {
      const value = readPrivateJson(path, MAX_FILE_CHARS);
      return isObject(value) && value["form"] === FORM && isCatalog(value["catalog"]) ? value["catalog"] : null;
    },
    write: (catalog) => writePrivateJson(path, { form: FORM, catalog }),
  };
}

function isCatalog(value: unknown): value is Catalog {
  if (!isObject(value)) return false;
  const { fingerprint, listedAt, tools, gone, notices, legacySince } = value;
  const dated = typeof listedAt === "number" && (legacySince === null || typeof legacySince === "number");
  return (
    dated &&
    typeof fingerprint === "string" &&
    Array.isArray(notices) &&
    Array.isArray(gone) &&
    Array.isArray(tools) &&
    tools.every(isKnownTool)
  );
}

function isKnownTool(value: unknown): value is KnownTool {
  if (!isObject(value) || !isObject(value["definition"])) return false;
  const { name, digest, description, inputSchema } = value["definition"];
  return [name, digest, description].every((one) => typeof one === "string") && isObject(inputSchema);
}

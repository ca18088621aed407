/** Which files of the project are pages of the documentation site, in which order, and at which address each is. */
import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";

export interface SitePage {
  /** Below the project's root. */
  readonly file: string;
  /** `/docs/models`. */
  readonly address: string;
}

export interface PageGroup {
  readonly name: string;
  readonly pages: readonly SitePage[];
}

export const SITE = "/docs";

/** By what a reader wants to do. Names without a folder are in docs/. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  [
    "Begin",
    [
      "README.md",
      "first-steps",
      "models",
      "console",
      "notifications",
      "channels",
      "telegram",
      "discord",
      "irc",
      "commands",
    ],
  ],
  [
    "Agents and tools",
    ["agents", "prompts", "routing", "tools", "built-in-tools", "mcp-servers", "plugins", "questions"],
  ],
  ["Automate", ["automation", "budgets", "queue-and-delivery"]],
  ["Programs", ["http", "client", "openai", "responses", "mcp", "acp", "compatibility"]],
  [
    "Operate",
    [
      ...["config", "cli", "service", "container", "backup", "update", "storage", "logs", "metrics"],
      ...["postgres", "scaling", "reliability", "performance"],
    ],
  ],
  ["Reference", ["reference/", "glossary"]],
  ["Project", ["CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "adr/"]],
];

export function siteGroups(root: string): readonly PageGroup[] {
  const named = GROUPS.map(([name, entries]) => ({
    name,
    pages: entries.flatMap((entry) => filesOf(root, entry)).map(pageOf),
  }));
  const listed = new Set(named.flatMap(({ pages }) => pages.map(({ file }) => file)));
  const others = filesOf(root, "").filter((file) => !listed.has(file));
  return others.length === 0 ? named : [...named, { name: "More", pages: others.map(pageOf) }];
}

/** An entry is a page, or a folder of docs/ with all that is in it. */
function filesOf(root: string, entry: string): readonly string[] {
  const file = entry.endsWith(".md") ? entry : `docs/${entry}.md`;
  if (entry !== "" && !entry.endsWith("/")) return existsSync(join(root, file)) ? [file] : [];
  const folder = posix.join("docs", entry);
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => posix.join(folder, name));
}

function pageOf(file: string): SitePage {
  const name = file.replace(/^docs\//, "").replace(/\.md$/, "");
  return {
    file,
    address: file === "README.md" ? SITE : `${SITE}/${/^[A-Z]+$/.test(name) ? name.toLowerCase() : name}`,
  };
}

export type Target =
  | { readonly kind: "page"; readonly page: SitePage; readonly anchor: string }
  | { readonly kind: "picture"; readonly address: string; readonly file: string }
  /** Another file of the project, which is not on the site. */
  | { readonly kind: "source"; readonly file: string }
  | { readonly kind: "outside" };

/** Where a link of a page leads, as a code host reads it. */
export function targetOf(pages: ReadonlyMap<string, SitePage>, from: SitePage, href: string): Target {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { kind: "outside" };
  const [path = "", anchor = ""] = href.split("#");
  const file = path === "" ? from.file : posix.join(posix.dirname(from.file), path);
  const page = pages.get(file);
  if (page) return { kind: "page", page, anchor };
  if (file.startsWith("docs/images/")) return { kind: "picture", address: `/${file}`, file };
  return { kind: "source", file };
}

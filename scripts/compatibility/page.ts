/** docs/compatibility.md: a section for each suite, between marks, so that one suite can be run without the others. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, type Suite } from "./suite.ts";

const PAGE = join(ROOT, "docs", "compatibility.md");
const HEAD = `# Compatibility

Programs of others that meet the gateway, and how they fare. \`npm run compatibility\` runs them and writes this page; \`-- --only NAME\` runs one
section. A scenario counts as passed when it has checked something and nothing failed.
`;

export function writePage(suites: readonly Suite[], made: ReadonlyMap<string, string>): void {
  writeFileSync(PAGE, pageWith(suites, made, existsSync(PAGE) ? readFileSync(PAGE, "utf8") : ""));
  Bun.spawnSync([process.execPath, "--no-env-file", "fmt", "--no-script", PAGE], { cwd: ROOT });
}

/** `made`: sections by the name of their suite. What has not been run now is as in the page `before`. */
export function pageWith(suites: readonly Suite[], made: ReadonlyMap<string, string>, before: string): string {
  const sections = suites.flatMap(({ name, title }) => {
    const text = made.get(name) ?? sectionIn(before, name, title);
    return text === null ? [] : [`<!-- ${name} -->\n\n## ${title}\n\n${text.trim()}\n`];
  });
  return [HEAD, ...sections].join("\n");
}

function sectionIn(page: string, name: string, title: string): string | null {
  const begin = page.indexOf(`<!-- ${name} -->`);
  if (begin === -1) return null;
  const heading = `## ${title}\n`;
  const from = page.indexOf(heading, begin);
  const end = page.indexOf("\n<!-- ", begin + 1);
  return from === -1 ? null : page.slice(from + heading.length, end === -1 ? undefined : end);
}

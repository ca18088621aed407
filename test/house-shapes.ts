/** Rules about the shape of values and names: how much one object may hold, how many objects one may be made of, and whether the name of a test says enough. */
import { LIMITS } from "./house-plan.ts";
import { lineAt, matching, type Source } from "./house-source.ts";

const OPEN = "([{";
const CLOSE = ")]}";
const BAG = /\b(?:interface|type)\s+(\w+(?:Deps|Parts|Options))\b[^{};=]*=?\s*\{/g;
/** Words that stand in for a subject: who reads a name alone cannot know what they mean. */
const NO_SUBJECT = /^(is|it|what|one|nobody|and)\b/i;

const isProduct = (path: string): boolean =>
  /^(src|bridge|console)\//.test(path) && !/\.test\.tsx?$/.test(path) && !path.startsWith("src/testing/");

/** `src/queue`, `console`: where spreads are counted. */
export function folderOf(path: string): string {
  const [top = "", second = "", third] = path.split("/");
  return top === "src" && third !== undefined ? `${top}/${second}` : top;
}

/** Objects of dependencies with too many members: whoever takes thirteen things has more than one task. */
export function overfullBags(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => isProduct(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(BAG)].flatMap((match) => {
        const [, name = ""] = match;
        const members = membersIn(code, match.index + match[0].length - 1);
        if (members <= LIMITS.bagMembers) return [];
        const at = `${path}:${lineAt(code, match.index)}`;
        return [
          `${at} ${name} has ${members} members, ${LIMITS.bagMembers} at most: group what belongs together, a part that needs them all has more than one task`,
        ];
      }),
    );
}

function membersIn(code: string, open: number): number {
  const close = matching(code, open);
  let members = 0;
  for (let at = open + 1; at < close; at++) {
    if (OPEN.includes(code[at] ?? "")) at = matching(code, at);
    else if (code[at] === ";") members++;
  }
  return members;
}

/** `...{ a, b }`: the fields are known here, so they are written here. It says the same in more signs and hides how long a list is. */
export function literalSpreads(sources: readonly Source[]): string[] {
  const say = "spreads an object literal: write its fields, the spread only hides how many there are";
  return sources.flatMap(({ path, code }) =>
    [...code.matchAll(/\.\.\.\s*\{/g)].map(({ index }) => `${path}:${lineAt(code, index)} ${say}`),
  );
}

/** Objects made of two or more others. Nobody sees which fields they have, and the last one wins where names meet. */
export function doubleSpreads(sources: readonly Source[]): string[] {
  const say = "is made of more than one object: name the fields, or nobody sees what it has and which one wins";
  return sources
    .filter(({ path }) => isProduct(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/\{/g)]
        .filter(({ index }) => spreadsIn(code, index) > 1)
        .map(({ index }) => `${path}:${lineAt(code, index)} ${say}`),
    );
}

/** Spreads of names and calls directly in the braces that open here; `...(x ? { a } : {})` adds fields that stand there. */
function spreadsIn(code: string, open: number): number {
  const close = matching(code, open);
  let spreads = 0;
  for (let at = open + 1; at < close; at++) {
    if (OPEN.includes(code[at] ?? "")) at = matching(code, at);
    else if (CLOSE.includes(code[at] ?? "")) return spreads;
    else if (code.startsWith("...", at) && !/^\.\.\.\s*[({[]/.test(code.slice(at, at + 8))) spreads++;
  }
  return spreads;
}

/** Findings by folder against the plan: more than planned is an error, and so is less, because the plan has to follow. */
export function beyondPlan(findings: readonly string[], planned: Readonly<Record<string, number>>): string[] {
  const found = Map.groupBy(findings, (finding) => folderOf(finding));
  const folders = [...new Set([...found.keys(), ...Object.keys(planned)])].toSorted();
  return folders.flatMap((folder) => {
    const here = found.get(folder) ?? [];
    const most = planned[folder] ?? 0;
    if (here.length > most) return [`${folder} has ${here.length} of at most ${most}:`, ...here];
    if (here.length === most) return [];
    return [
      `${folder} has ${here.length} now: write that instead of ${most} into test/house-plan.ts, it may only fall`,
    ];
  });
}

/** A report of tests is read without its file: a name must not begin with a word whose subject is elsewhere. */
export function subjectless(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => /\.test\.tsx?$/.test(path))
    .flatMap((file) => {
      const groups = callsOf(file, "describe");
      return callsOf(file, "test").flatMap(({ name, at }) => {
        const around = groups.filter(({ open, close }) => open < at && at < close).map((group) => group.name);
        const whole = [...around, name].join(" ");
        if (!NO_SUBJECT.test(whole)) return [];
        return [
          `${file.path}:${lineAt(file.code, at)} "${whole.slice(0, 60)}" does not say what it is about: begin with the thing, a report is read without the file`,
        ];
      });
    });
}

interface NamedCall {
  readonly name: string;
  readonly at: number;
  readonly open: number;
  readonly close: number;
}

function callsOf({ code, text }: Source, called: "describe" | "test"): NamedCall[] {
  const pattern = new RegExp(`(?<![\\w.$])${called}(?:\\.(?:only|skip|todo|concurrent|skipIf|if|each))?\\s*\\(`, "g");
  return [...code.matchAll(pattern)].flatMap(({ index, 0: head }) => {
    let open = index + head.length - 1;
    if (/\.(?:each|skipIf|if)\s*\($/.test(head)) open = code.indexOf("(", matching(code, open)); // the list, then the call
    const quote = code.slice(open).search(/["'`]/) + open;
    if (!/^\(\s*$/.test(code.slice(open, quote))) return [];
    const end = text.indexOf(text[quote] ?? '"', quote + 1);
    return [{ name: text.slice(quote + 1, end), at: index, open, close: matching(code, open) }];
  });
}

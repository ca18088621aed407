/**
 * No promise is left without somebody who handles its failure. Types are not known here, so the rule asks for what can be read: a call behind
 * `void`, and a call that stands alone as a statement, either handles its failure, or calls something whose comment says that it never rejects.
 * Pages are left out: there such a failure is a line in the console of a browser, and ends nothing.
 */
import { isTest } from "./house.ts";
import { lineAt, matching, type Source } from "./house-source.ts";

/** Methods of maps, sets, lists, statements, streams and sockets: they return no promise, and `void` drops what they return. */
const AT_ONCE = [
  "delete",
  "add",
  "set",
  "push",
  "run",
  "write",
  "off",
  "noticed",
  "setToken",
  "abort",
  "splice",
  "assign",
];
const PROMISE_METHODS = ["then", "catch", "finally"];
const KEYWORDS =
  /^(?:async|await|break|case|const|continue|default|do|else|export|for|function|if|import|interface|let|return|switch|throw|try|type|using|void|while|yield)\b/;
const SAY = "is left alone with its failure: use background() of src/kit, or let its comment say that it never rejects";

export function forgottenPromises(sources: readonly Source[]): string[] {
  const own = sources.filter(({ path }) => !isTest(path) && /^(src|bridge)\//.test(path));
  const promised = own.map((file) => ({ file, here: new Set(neverRejecting(file)) }));
  const elsewhere = new Set(promised.flatMap(({ here }) => [...here]));
  return promised.flatMap(({ file, here }) => {
    const isSafe = (name: string, ofAnother: boolean): boolean =>
      (!ofAnother && defines(file, name) ? here : elsewhere).has(name);
    return [...droppedIn(file), ...standingAlone(file)]
      .filter(({ text }) => !isHandled(text, isSafe))
      .map(({ at, text }) => `${file.path}:${lineAt(file.code, at)} ${headOf(text)} ${SAY}`);
  });
}

interface Expression {
  readonly at: number;
  readonly text: string;
}

/** What stands behind the operator; as a type, `void` is followed by no word. */
function droppedIn({ code }: Source): Expression[] {
  return [...code.matchAll(/\bvoid\s+(?=[\w(])/g)].map(({ index, 0: word }) => {
    const from = index + word.length;
    return { at: index, text: code.slice(from, endOfExpression(code, from)) };
  });
}

/** Statements that call an async function of the same file, or go on with a promise, and wait for neither. */
function standingAlone({ code }: Source): Expression[] {
  const names = asyncNames(code);
  const starts = code.matchAll(/^[ \t]*(?:(?:if|for|while) \([^\n]*\) |else )*(?=[A-Za-z_$])/gm);
  return [...starts].flatMap(({ index, 0: head }) => {
    const at = index + head.length;
    const before = code.slice(0, index).trimEnd().slice(-" else".length);
    if (!/(?:^|[;{})]|\belse)$/.test(before)) return []; // it goes on with the line before
    const end = endOfExpression(code, at);
    const text = code.slice(at, end);
    if (code[end] !== ";" || KEYWORDS.test(text) || /\)\s*:/.test(text)) return []; // another kind of statement, or a signature
    if (/^[\w$.?[\]]+\s*(?:\?\?|\|\||&&|[-+])?=(?!=)/.test(text)) return []; // it is kept, and whoever keeps it waits for it
    const calls = callsOf(text);
    const goesOn = calls.some(({ name }) => PROMISE_METHODS.includes(name));
    return goesOn || (calls.length === 1 && names.has(headOf(text))) ? [{ at, text }] : [];
  });
}

function asyncNames(code: string): ReadonlySet<string> {
  const patterns = [
    /\basync function (\w+)/g,
    /\bfunction (\w+)(?:<[^>]*>)?\([^)]*\): Promise</g,
    /\bconst (\w+)(?:: [^=]+)? = async\b/g,
    /\bconst (\w+) = (?:<[^>]*>)?\([^)]*\): Promise</g,
  ];
  return new Set(patterns.flatMap((pattern) => [...code.matchAll(pattern)].flatMap(([, name]) => name ?? [])));
}

/** Names that a comment promises about, wherever they are declared. */
function neverRejecting({ text }: Source): string[] {
  const pattern =
    /\/\*\*(?:(?!\*\/)[^])*?never rejects(?:(?!\*\/)[^])*?\*\/\s*(?:(?:export|async|readonly|function|const|let)\s+)*(\w+)/gi;
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
}

function defines({ code }: Source, name: string): boolean {
  return new RegExp(`\\b(?:function|const|let)\\s+${name}\\b`).test(code);
}

/** `ofAnother`: a method, so that a function of the same name in the same file says nothing about it. */
type IsSafe = (name: string, ofAnother: boolean) => boolean;

function isHandled(expression: string, isSafe: IsSafe): boolean {
  const text = bare(expression);
  if (/^await\b/.test(text)) return true;
  const calls = callsOf(text);
  const handler = calls.findLastIndex(({ name, args }) => name === "catch" || (name === "then" && hasTwo(args)));
  if (handler >= 0 && calls.slice(handler + 1).every(({ name }) => name === "finally")) return true;
  const first = calls.findIndex(({ name }) => PROMISE_METHODS.includes(name));
  const from = calls.slice(0, first < 0 ? calls.length : first).at(-1);
  if (from) return (first < 0 && endsAtOnce(from)) || isSafe(from.name, from.isMethod);
  const kept = text.slice(0, calls[first]?.at); // a value, or a promise that goes by a name
  return first < 0 || isSafe(/\w+$/.exec(kept)?.[0] ?? "", kept.includes("."));
}

/** A function of the same name is another matter. */
function endsAtOnce({ name, isMethod }: Called): boolean {
  return isMethod ? AT_ONCE.includes(name) : name === "listener";
}

/** Without what stands around the call: parentheses, a name that it is kept under, a condition in front of it. */
function bare(expression: string): string {
  const text = expression.trim();
  if (text.startsWith("(") && matching(text, 0) === text.length - 1) return bare(text.slice(1, -1));
  const front = /^(?:\([^()]*\)|[^()=]*(?:\([^()]*\)|=== *"[^"]*")?)\s*&& *|^[\w$.?]+ (?:\?\?)?= /.exec(text)?.[0];
  return front ? bare(text.slice(front.length)) : text;
}

interface Called {
  readonly name: string;
  readonly args: string;
  /** Where its name begins, with the dot before it. */
  readonly at: number;
  readonly isMethod: boolean;
}

/** The calls of one chain, in order; those in its arguments are no part of it. */
function callsOf(text: string): Called[] {
  const calls: Called[] = [];
  for (let at = 0; at < text.length; at++) {
    if (!"([{".includes(text[at] ?? "")) continue;
    const close = matching(text, at);
    const found = /(\??\.\s*)?(\w+)\s*$/.exec(text.slice(0, at));
    const [, dot, name = ""] = found ?? [];
    const args = text.slice(at + 1, close);
    if (text[at] === "(" && found) calls.push({ name, args, at: found.index, isMethod: dot !== undefined });
    at = close;
  }
  return calls;
}

/** Another argument follows the first. */
function hasTwo(args: string): boolean {
  const end = endOfExpression(args, 0);
  return args[end] === "," && args.slice(end + 1).trim() !== "";
}

function headOf(text: string): string {
  return /^[\w$.?]+/.exec(bare(text))?.[0] ?? "a promise";
}

/** Where the expression ends that begins here: at a comma, a semicolon or the bracket that closes what it stands in. */
function endOfExpression(code: string, from: number): number {
  for (let at = from; at < code.length; at++) {
    const char = code[at] ?? "";
    if ("([{".includes(char)) at = matching(code, at);
    else if (",;)]}".includes(char)) return at;
  }
  return code.length;
}

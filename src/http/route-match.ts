/** Finds the row for a method and a path. Pure; knows nothing of who is asking. */
import type { Route } from "./route.ts";

export type Match =
  | { readonly kind: "row"; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "wrong_method" }
  | { readonly kind: "unknown" };

interface Pattern {
  readonly parts: readonly string[];
  readonly route: Route;
}

export function createMatcher(routes: readonly Route[]): (method: string, path: string) => Match {
  const exact = new Map<string, Route[]>();
  const patterns: Pattern[] = [];
  for (const route of routes) {
    if (route.path.includes("/:")) patterns.push({ parts: route.path.split("/"), route });
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route]);
  }

  return (method, path) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const rows = exact.get(path);
    if (rows) {
      const route = rows.find((row) => row.method === wanted);
      return route ? { kind: "row", route, params: {} } : { kind: "wrong_method" };
    }
    const parts = path.split("/");
    let pathKnown = false;
    for (const { parts: pattern, route } of patterns) {
      const params = paramsOf(pattern, parts);
      if (params === null) continue;
      if (route.method === wanted) return { kind: "row", route, params };
      pathKnown = true;
    }
    return { kind: pathKnown ? "wrong_method" : "unknown" };
  };
}

function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const part = parts[at] ?? "";
    if (!expected.startsWith(":")) {
      if (part !== expected) return null;
      continue;
    }
    const value = decoded(part);
    if (value === null || value === "") return null;
    params[expected.slice(1)] = value;
  }
  return params;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null; // a stray percent sign names nothing we have
  }
}

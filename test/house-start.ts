/** What a start of the gateway loads before it is ready: everything that static imports reach from its entry. */
import { posix } from "node:path";
import { START_LOADS } from "./house-plan.ts";
import { importsOf, type Source } from "./house-source.ts";

/** The command line, and the gateway that it loads for `start`. */
const ENTRIES = ["src/main.ts", "src/serve.ts"];

/** Libraries and modules of the runtime that are loaded and not in the list, each with the first file that asks for it. */
export function heavyStarts(sources: readonly Source[], entries: readonly string[] = ENTRIES): string[] {
  const files = new Map(sources.map((file) => [file.path, file]));
  const seen = new Set(entries);
  const findings = new Map<string, string>();
  for (const path of seen) {
    const file = files.get(path);
    for (const { specifier, typeOnly, dynamic } of file ? importsOf(file) : []) {
      if (typeOnly || dynamic) continue;
      if (specifier.startsWith("."))
        seen.add(posix.join(posix.dirname(path), specifier)); // a set grows while it is walked
      else if (!START_LOADS.has(specifier) && !findings.has(specifier))
        findings.set(specifier, `${path}: loads ${specifier} at every start; import it where it is needed`);
    }
  }
  return [...findings.values()];
}

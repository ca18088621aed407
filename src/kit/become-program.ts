/** Puts another program in the place of this process, with its number, its terminal and its parent. Linux only. */
import { ptr } from "bun:ffi";
import { openCLibrary } from "./c-library.ts";

/** Returns only when that did not work: why. Nothing of this process may be open that the program should not have. */
export function becomeProgram(
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const library = openCLibrary({ execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" } });
  if (library === null) return "this system has no way to replace a running program";
  const argv = command.map(cString);
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [cString(`${name}=${value}`)],
  );
  const [program = cString("")] = argv;
  library.execve(program, pointerList(argv), pointerList(variables));
  return `${command[0]} cannot be run; ${argv.length + variables.length} texts`; // named here so that they live until the call
}

function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** Ends with zero, as the C library wants it. */
function pointerList(strings: readonly Uint8Array[]): BigUint64Array {
  const list = new BigUint64Array(strings.length + 1);
  strings.forEach((one, index) => {
    list[index] = BigInt(ptr(one));
  });
  return list;
}

/** Options of the scripts of package.json. A wrong one ends the script before it does anything, with a sentence and its help. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { helpFor } from "./docs/script-help.mjs";

const WRONG_USAGE = 2;
const WHOLE_NUMBER = /^\d+$/;

type Options = NonNullable<ParseArgsConfig["options"]>;

/** `script`: its path, as package.json names it. `numbers`: options that are whole numbers. */
export function scriptOptions<T extends Options>(
  script: string,
  options: T,
  numbers: readonly (keyof T & string)[] = [],
) {
  const { values } = parsed(script, options);
  for (const name of numbers) {
    const given = (values as Readonly<Record<string, unknown>>)[name];
    if (given !== undefined && !WHOLE_NUMBER.test(String(given)))
      endWith(script, `--${name} takes a whole number, and ${JSON.stringify(given)} is none.`);
  }
  return values;
}

function parsed<T extends Options>(script: string, options: T) {
  try {
    return parseArgs({ options });
  } catch (error) {
    return endWith(script, error instanceof Error ? error.message : String(error));
  }
}

function endWith(script: string, sentence: string): never {
  const help = helpFor([script, "--help"]);
  process.stderr.write(`${sentence}\n${help === null ? "" : `\n${help}\n`}`);
  process.exit(WRONG_USAGE);
}

/** The commands of the command line as data, read from commander: what a shell may offer after each of them. */
import type { Argument, Command, Option } from "commander";

export interface CommandNode {
  /** `sessions list`; empty: the program itself. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CommandNode[];
  readonly options: readonly OptionNode[];
  /** Of its arguments: one of these words, when it takes only some. */
  readonly words: readonly string[];
  readonly takesFile: boolean;
}

interface OptionNode {
  /** `--limit`, `-n`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takes: "nothing" | "file" | "text" | readonly string[];
}

const FILE = /<(?:file|folder|dir)>|\[(?:file|folder|dir)\]/;

export function commandTree(command: Command, parent = ""): CommandNode {
  const path = parent === "" ? (command.parent ? command.name() : "") : `${parent} ${command.name()}`;
  return {
    path,
    name: command.name(),
    description: command.description(),
    commands: command.commands.map((one) => commandTree(one, path)),
    options: command.options.map(optionNode),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFile: command.registeredArguments.some(isFile),
  };
}

/** The node itself and all below it. */
export function allNodes(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(allNodes)];
}

function optionNode({ flags, short, long, description, argChoices, required, optional }: Option): OptionNode {
  const takes = required || optional ? (argChoices ?? (FILE.test(flags) ? "file" : "text")) : "nothing";
  return { names: [long, short].filter((name) => name !== undefined), description, takes };
}

function isFile(argument: Argument): boolean {
  return /^(?:file|folder|dir)$/.test(argument.name());
}

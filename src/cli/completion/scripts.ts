/** Completion scripts for shells, made from the tree of commands. They hold all words themselves: no key stroke starts the program. */
import { allNodes, type CommandNode } from "./command-tree.ts";

const PROGRAMS = ["pi-gw", "pi-gateway"];

export const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript };
export type Shell = keyof typeof SHELLS;

/** In single quotes, which both families of shells understand. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function wordsAfter(node: CommandNode): readonly string[] {
  return [...node.commands.map(({ name }) => name), ...node.words, ...node.options.flatMap(({ names }) => names)];
}

/** A line of `case` for each path, and for each option that takes something. */
function cases(root: CommandNode, indent: string) {
  const nodes = allNodes(root);
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const values = nodes.flatMap(({ path, options }) =>
    options.flatMap(({ names, takes }) => {
      if (takes === "nothing") return [];
      const pattern = names.map((name) => quoted(`${path} ${name}`)).join(" | ");
      const effect = takes === "file" ? "files=1" : takes === "text" ? "words=" : `words=${quoted(takes.join(" "))}`;
      return [`${indent}${pattern}) ${effect} ;;`];
    }),
  );
  const words = nodes.map((node) => {
    const files = node.takesFile ? "; files=1" : "";
    return `${indent}${quoted(node.path)}) words=${quoted(wordsAfter(node).join(" "))}${files} ;;`;
  });
  return { paths: paths.join(" | "), values: values.join("\n"), words: words.join("\n") };
}

/** `path` is how far the words before the cursor name commands. */
function bashScript(root: CommandNode): string {
  const { paths, values, words } = cases(root, "      ");
  return `# Completion of pi-gw for bash. Put it in force with: eval "$(pi-gw completion bash)"
_pi_gw() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path= words= files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${paths}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $prev" in
${values}
    *) case "$path" in
${words}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o default -F _pi_gw ${PROGRAMS.join(" ")}
`;
}

function zshScript(root: CommandNode): string {
  const { paths, values, words } = cases(root, "      ");
  return `#compdef ${PROGRAMS.join(" ")}
# Completion of pi-gw for zsh. Put it in force with: source <(pi-gw completion zsh)
_pi_gw() {
  local prev=\${words[CURRENT-1]} path_= files= word
  local -a typed=("\${(@)words[2,CURRENT-1]}")
  local words=
  for word in $typed; do
    case "\${path_:+$path_ }$word" in
      ${paths}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_ $prev" in
${values}
    *) case "$path_" in
${words}
    esac ;;
  esac
  compadd -- \${=words}
  if [[ -n $files ]]; then _files; fi
}
compdef _pi_gw ${PROGRAMS.join(" ")}
`;
}

/** Names and descriptions, because fish shows them beside each other. */
function fishScript(root: CommandNode): string {
  const nodes = allNodes(root);
  const paths = nodes.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const lines = PROGRAMS.flatMap((program) => nodes.flatMap((node) => fishLines(program, node)));
  return `# Completion of pi-gw for fish. Put it in force with: pi-gw completion fish | source
function __pi_gw_at
    set -l path
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$path $word")
        contains -- "$next" ${paths.join(" ")}; and set path $next
    end
    test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function fishLines(program: string, node: CommandNode): readonly string[] {
  const begin = `complete -c ${program} -n ${quoted(`__pi_gw_at "${node.path}"`)}`;
  const commands = node.commands.map((one) => `${begin} -f -a ${one.name} -d ${quoted(one.description)}`);
  const words = node.words.length === 0 ? [] : [`${begin} -f -a ${quoted(node.words.join(" "))}`];
  const options = node.options.map(({ names, description, takes }) => {
    const named = names
      .map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
      .join(" ");
    const value =
      takes === "nothing"
        ? ""
        : takes === "file"
          ? " -r"
          : takes === "text"
            ? " -x"
            : ` -x -a ${quoted(takes.join(" "))}`;
    return `${begin} ${named}${value} -d ${quoted(description)}`;
  });
  return [...commands, ...words, ...options];
}

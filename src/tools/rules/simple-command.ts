/**
 * Which program a shell command starts, if it starts one and does nothing else. Whatever the shell might read in another way than this file
 * does counts as something else: operators, substitutions, redirections, variables, backslashes, patterns, and every character that is not
 * plain ASCII outside of quotes.
 */
const MAX_COMMAND_CHARS = 4_096;
const PROGRAM = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
/** A word as it stands, one in single quotes (all in it is itself), or one in double quotes without what the shell replaces there. */
const PLAIN = String.raw`[A-Za-z0-9_./:,@%+=~^-]`;
const QUOTED = String.raw`'[^'\p{C}\p{Zl}\p{Zp}]*'|"[^"$\\!\p{C}\p{Zl}\p{Zp}${"`"}]*"`;
const ARGUMENTS = new RegExp(`^(?: +(?:${PLAIN}|${QUOTED})+)* *$`, "u");

/** They run what they are told to, or change what later words of a command mean: a rule for one of them would be a rule for everything. */
const RUNS_OTHERS: ReadonlySet<string> = new Set(
  [
    "sh bash dash zsh ksh fish csh tcsh busybox rbash ash",
    "env sudo doas su runuser pkexec setpriv chroot unshare nsenter bwrap firejail setsid nohup nice ionice chrt taskset",
    "time timeout watch xargs parallel find fd entr flock script stdbuf strace ltrace gdb ssh scp rsync docker podman kubectl",
    "python python2 python3 node nodejs bun deno perl ruby php lua tclsh awk gawk mawk nawk sed ed ex vi vim nvim emacs",
    "make cmake ninja npm npx pnpm pnpx yarn bunx uv uvx pip pipx cargo go rustc gcc cc java jshell gradle mvn rake tox",
    "eval exec source command builtin alias export declare typeset local readonly unset set shopt trap enable hash",
    "if then elif else fi for while until do done case esac select function coproc cd pushd popd test",
    "crontab at batch systemctl systemd-run screen tmux expect git-shell",
  ].flatMap((line) => line.split(" ")),
);

/** Null: more than one program, none, or one that runs others. */
export function programOf(command: string): string | null {
  if (command.length > MAX_COMMAND_CHARS) return null;
  const space = command.indexOf(" ");
  const program = space < 0 ? command : command.slice(0, space);
  const rest = space < 0 ? "" : command.slice(space);
  if (!PROGRAM.test(program) || RUNS_OTHERS.has(program.toLowerCase())) return null;
  return ARGUMENTS.test(rest) ? program : null;
}

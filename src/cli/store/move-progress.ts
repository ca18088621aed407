/** How far a move has come: a bar that moves on a terminal, elsewhere a line for each table with rows. Always on stderr. */
import type { MoveProgress } from "../../store/index.ts";
import { progressBar } from "../backup/progress.ts";
import type { CliWorld } from "../world.ts";

const EVERY_MS = 100;
const PHASES = { copy: "Copying", files: "Moving files", compare: "Comparing" } as const satisfies Record<
  MoveProgress["phase"],
  string
>;

interface ShownProgress extends Disposable {
  show(now: MoveProgress): void;
}

type Shown = Pick<CliWorld, "isTerminal" | "clock" | "stderr">;

export function createMoveProgress(world: Shown, isSilent: boolean): ShownProgress {
  if (isSilent) return { show: () => undefined, [Symbol.dispose]: () => undefined };
  return world.isTerminal ? onTerminal(world) : inLines(world);
}

function onTerminal({ clock, stderr }: Shown): ShownProgress {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show({ phase, table, doneRows, allRows }) {
      if (clock.elapsed() - shownAt < EVERY_MS) return;
      shownAt = clock.elapsed();
      stderr(`\r\u001b[K${progressBar(PHASES[phase], doneRows, allRows)} of ${allRows} ${unitOf(phase)}: ${table}`);
    },
    [Symbol.dispose]() {
      if (shownAt > Number.NEGATIVE_INFINITY) stderr("\r\u001b[K"); // leaves an empty line for what follows
    },
  };
}

function unitOf(phase: MoveProgress["phase"]): string {
  return phase === "files" ? "files" : "rows";
}

/** A line when a table is left behind, and at the end of a phase. Tables without rows are not worth one. */
function inLines({ stderr }: Shown): ShownProgress {
  let last: MoveProgress | null = null;
  let toldRows = 0;
  const tell = (): void => {
    if (last === null || last.doneRows === toldRows) return;
    toldRows = last.doneRows;
    stderr(`${PHASES[last.phase]}: ${last.table}, ${last.doneRows} of ${last.allRows} ${unitOf(last.phase)}\n`);
  };
  return {
    show(now) {
      if (last !== null && (last.table !== now.table || last.phase !== now.phase)) tell();
      if (last !== null && last.phase !== now.phase) toldRows = 0;
      last = now;
    },
    [Symbol.dispose]: tell,
  };
}

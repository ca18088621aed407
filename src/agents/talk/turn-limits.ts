/** What a turn may not pass while it runs: silence, processor time, budget, disk. And the processor that too many of its programs lose. */
import type { Clock } from "../../kit/clock.ts";
import type { DiskTrouble } from "../process/disk-meter.ts";
import type { ReadyAgent } from "../setup/start.ts";
import { classifyFailure } from "./provider-failure.ts";
import type { Ending, Run } from "./run.ts";

const MIN_WATCH_MS = 100;
/** How often the processor time of programs is looked at. */
const METER_MS = 2_000;
/** How often the disk is looked at: it fills by a gigabyte in a second. */
const DISK_MS = 250;

/** Calls `halt` once the turn has passed one of its limits, unless it is over before. Too many running programs end no turn: they lose a processor. */
export function watchLimits(
  watched: Watched & Metered,
  halt: (ending: Ending, urgent?: boolean) => void,
  over: AbortSignal,
): void {
  onSilence(watched, () => halt(silent(watched.silenceMs)), over);
  onSpent(watched, () => halt(spent(watched.cpuSeconds)), over);
  onTooDear(watched.agent, () => halt(refused("the budget is spent")), over); // the door knows what the person is told
  onDiskUsed(watched, (trouble) => halt({ because: "failed", ...trouble, again: false }, true), over);
  shareProcessors(watched, over);
}

interface Watched {
  readonly clock: Clock;
  readonly quietMs: () => number;
  readonly silenceMs: number;
}

/** Acts once it has been quiet for `silenceMs`, unless the turn ends first. */
function onSilence({ clock, quietMs, silenceMs }: Watched, act: () => void, over: AbortSignal): void {
  const wait = async (): Promise<void> => {
    for (let left = silenceMs; left > 0; left = silenceMs - quietMs())
      await clock.sleep(Math.max(left, MIN_WATCH_MS), over);
  };
  wait().then(act, () => undefined); // the turn is over
}

interface Metered {
  readonly clock: Clock;
  readonly agent: ReadyAgent;
  readonly cpuSeconds: number;
  readonly run: Run;
}

/** Acts once its programs have used up their processor time, unless the turn ends first. Looks only while a tool runs. */
function onSpent({ clock, agent: { process }, cpuSeconds, run }: Metered, act: () => void, over: AbortSignal): void {
  const wait = async (): Promise<void> => {
    await clock.sleep(METER_MS, over); // to look is to read about every process of the machine: short turns do without
    const before = process.processorSeconds();
    do await clock.sleep(METER_MS, over);
    while (run.toolsRunning() === 0 || process.processorSeconds() - before < cpuSeconds);
  };
  wait().then(act, () => undefined); // the turn is over
}

/** Acts when pi is about to make a call itself that the budget does not allow, unless the turn ends first. */
function onTooDear({ process, door }: ReadyAgent, act: () => void, over: AbortSignal): void {
  const listening = process.onEvent((event) => {
    if (event.type === "message_ended" && door.told(event.message.usage, event.message.stop === "toolUse")) act();
  });
  over.addEventListener("abort", () => listening[Symbol.dispose](), { once: true });
}

/** Acts once its programs have written too much, unless the turn ends first. Looks only while a tool runs. */
function onDiskUsed(
  { clock, agent: { disk }, run }: Metered,
  act: (trouble: DiskTrouble) => void,
  over: AbortSignal,
): void {
  const wait = async (): Promise<DiskTrouble> => {
    disk.begin();
    for (;;) {
      await clock.sleep(DISK_MS, over);
      const trouble = run.toolsRunning() > 0 ? await disk.look() : null;
      if (trouble) return trouble;
    }
  };
  wait().then(act, () => undefined); // the turn is over
}

/** From the first tool call on until the end of the turn: programs can run on when the call that started them is over. */
function shareProcessors({ clock, agent: { processors }, run }: Metered, over: AbortSignal): void {
  if (processors === null) return;
  const wait = async (): Promise<void> => {
    let pauseMs = MIN_WATCH_MS;
    for (;;) {
      await clock.sleep(pauseMs, over);
      if (run.hasUsedTools()) pauseMs = processors.look();
    }
  };
  wait().catch(() => processors.end()); // the turn is over
}

export function refused(error: string): Ending {
  return { because: "failed", code: classifyFailure(error), detail: error, again: false };
}

function spent(seconds: number): Ending {
  const detail = `its programs used more than ${seconds} seconds of processor time`;
  return { because: "failed", code: "agent_busy_too_long", detail, again: false };
}

function silent(ms: number): Ending {
  return { because: "failed", code: "provider_silent", detail: `no sign of life for ${ms} ms`, again: false };
}

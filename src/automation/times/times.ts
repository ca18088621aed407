/** The moments of a schedule, one after the other. The same question has the same answer, whatever time it is. */
import type { Schedule } from "../../contracts/automation/job.ts";
import { createCronReader } from "./cron.ts";
import { type ParsedSchedule, readSchedule, type ScheduleReading } from "./parse.ts";

export interface Times {
  read(schedule: Schedule): ScheduleReading;
  /** The first moment after `after`, or null. `anchorAt` is what an interval is counted from. */
  next(schedule: ParsedSchedule, after: number, anchorAt: number): number | null;
  /** The zone of the machine now; cron expressions that name none follow it. */
  hostZone(): string;
}

/** `hostZone` is used by cron expressions that name none. */
export function createTimes(hostZone: () => string): Times {
  const cron = createCronReader();
  return {
    hostZone,
    read: (schedule) => readSchedule(schedule, cron, hostZone),
    next(schedule, after, anchorAt) {
      switch (schedule.kind) {
        case "at":
          return schedule.at > after ? schedule.at : null;
        case "every": {
          const passed = Math.floor((after - anchorAt) / schedule.ms);
          return anchorAt + Math.max(1, passed + 1) * schedule.ms;
        }
        case "cron": {
          const read = cron.read(schedule.expr, schedule.timezone);
          return read.ok ? (read.cron.nextRun(new Date(after))?.getTime() ?? null) : null;
        }
      }
    },
  };
}

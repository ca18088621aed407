/** The newest thing heard about jobs: a run that began or ended, or (null) that the list has changed. */
import { signal } from "@preact/signals";
import type { JobRun } from "../../src/contracts/automation/job.ts";

export const jobNews = signal<{ readonly run: JobRun | null } | null>(null);

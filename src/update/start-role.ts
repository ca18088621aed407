/** Decides what a start is for the files of versions: an ordinary one, the trial of a new version, or the return from one. Pure. */
import { BASE, type Trial } from "./version-files.ts";

type StartRole =
  /** Nobody is to be told. */
  | { readonly kind: "ordinary" }
  /** It serves only after it has removed the file of the trial. */
  | { readonly kind: "trial"; readonly trial: Trial }
  /** The new version did not serve: its traces are removed first. */
  | { readonly kind: "return"; readonly trial: Trial }
  /** The files name another version than the one that was started: the next start will be right. */
  | { readonly kind: "wrong"; readonly wanted: string };

interface StartFacts {
  /** What the launcher chose; undefined: it was not started by the launcher. */
  readonly runs: string | undefined;
  /** The version of the installed package that the launcher is part of. */
  readonly installed: string;
  readonly trial: Trial | null;
  readonly current: { readonly version: string; readonly over: string } | null;
}

export function startRole({ runs, installed, trial, current }: StartFacts): StartRole {
  if (runs === undefined) return { kind: "ordinary" };
  if (trial !== null && trial.over === installed) {
    if (runs === trial.next) return { kind: "trial", trial };
    return runs === trial.before ? { kind: "return", trial } : { kind: "wrong", wanted: trial.before };
  }
  const wanted = current !== null && current.over === installed ? current.version : BASE;
  return runs === wanted ? { kind: "ordinary" } : { kind: "wrong", wanted };
}

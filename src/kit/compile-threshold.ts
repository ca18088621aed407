/** Says how soon the runtime compiles code to machine code. Knows nothing of what runs: a program says when its start begins and when it is over. */

/** Code of a start runs once or a few times: compiled as soon as code of turns, a tenth of a start's processor time went into it. */
const START_SCALE = 8;
const USUAL_SCALE = 1;

export function compileLater(): void {
  Bun.unsafe.setJITPolicy(START_SCALE);
}

export function compileAsUsual(): void {
  Bun.unsafe.setJITPolicy(USUAL_SCALE);
}

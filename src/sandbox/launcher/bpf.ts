/** A small assembler for seccomp filters: conditions on a call's number and arguments, each ending in an answer. Pure. */

/** One instruction of classic BPF. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Instructions that may fall through to the ones after them. */
export type Code = readonly Instruction[];

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;
const INSTRUCTION_BYTES = 8;
/** A jump is one byte. */
const MAX_SKIP = 255;

const NUMBER_OFFSET = 0;
const AUDIT_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const ARGUMENT_BYTES = 8;

const ALLOW_ANSWER = 0x7fff0000;
const ERROR_ANSWER = 0x00050000;
const KILL_ANSWER = 0x80000000;

export const allow: Code = [[RETURN, 0, 0, ALLOW_ANSWER]];
export const kill: Code = [[RETURN, 0, 0, KILL_ANSWER]];
export const error = (errno: number): Code => [[RETURN, 0, 0, ERROR_ANSWER | errno]];

export const loadNumber: Code = [[LOAD, 0, 0, NUMBER_OFFSET]];
export const loadAudit: Code = [[LOAD, 0, 0, AUDIT_OFFSET]];

/** The low half of an argument. The kernel reads the arguments that are checked here as 32 bits and ignores the rest. */
export function loadArgument(index: number, mask?: number): Code {
  const load: Instruction = [LOAD, 0, 0, ARGUMENTS_OFFSET + index * ARGUMENT_BYTES];
  return mask === undefined ? [load] : [load, [AND, 0, 0, mask]];
}

/** The rest of an argument that is a pointer. */
export function loadHighHalf(index: number): Code {
  return [[LOAD, 0, 0, ARGUMENTS_OFFSET + index * ARGUMENT_BYTES + ARGUMENT_BYTES / 2]];
}

/** `then` runs when the loaded value is this one. */
export function whenEqual(value: number, then: Code): Code {
  return [[IF_EQUAL, 0, skip(then), value], ...then];
}

/** `then` runs when the loaded value is none of these. */
export function unlessEqual(values: readonly number[], then: Code): Code {
  const tests = values.map((value, index): Instruction => {
    const testsAfter = values.length - 1 - index;
    return [IF_EQUAL, testsAfter + skip(then), 0, value];
  });
  return [...tests, ...then];
}

export function whenAtLeast(value: number, then: Code): Code {
  return [[IF_AT_LEAST, 0, skip(then), value], ...then];
}

/** `then` runs when the loaded value has one of these bits. */
export function whenAnyBit(bits: number, then: Code): Code {
  return [[IF_ANY_BIT, 0, skip(then), bits], ...then];
}

function skip(code: Code): number {
  if (code.length > MAX_SKIP) throw new RangeError(`a filter jumps over ${code.length} instructions`);
  return code.length;
}

export function assemble(code: Code): Uint8Array {
  const view = new DataView(new ArrayBuffer(code.length * INSTRUCTION_BYTES));
  code.forEach(([op, ifTrue, ifFalse, value], index) => {
    const at = index * INSTRUCTION_BYTES;
    view.setUint16(at, op, true);
    view.setUint8(at + 2, ifTrue);
    view.setUint8(at + 3, ifFalse);
    view.setUint32(at + 4, value >>> 0, true);
  });
  return new Uint8Array(view.buffer);
}

/** What a filter answers to a call, played by hand, so that a table can be tested without a kernel. */
export function play(
  code: Code,
  call: { readonly audit: number; readonly number: number; readonly args: readonly number[] },
): number {
  const loaded = (offset: number): number => {
    if (offset === NUMBER_OFFSET) return call.number;
    if (offset === AUDIT_OFFSET) return call.audit;
    return call.args[(offset - ARGUMENTS_OFFSET) / ARGUMENT_BYTES] ?? 0;
  };
  let value = 0;
  for (let at = 0; at < code.length; at++) {
    const [op, ifTrue, ifFalse, operand] = code[at] ?? [RETURN, 0, 0, KILL_ANSWER];
    if (op === RETURN) return operand;
    if (op === LOAD) value = loaded(operand) >>> 0;
    else if (op === AND) value = (value & operand) >>> 0;
    else at += holds(op, value, operand >>> 0) ? ifTrue : ifFalse;
  }
  throw new RangeError("a filter ends without an answer");
}

function holds(op: number, value: number, operand: number): boolean {
  if (op === IF_EQUAL) return value === operand;
  if (op === IF_AT_LEAST) return value >= operand;
  return (value & operand) !== 0;
}

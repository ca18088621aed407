/** Is one number a multiple of another, by the digits in which they are written: 0.3 is one of 0.1, although 0.3 / 0.1 is 2.9999999999999996. */
import type { Budget } from "./budget.ts";

/** Numbers with a long row of digits cost more than others. */
const STEPS_BY_DIGITS = 100;

export function isMultipleOf(value: number, divisor: number, budget: Budget): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  budget.spend(STEPS_BY_DIGITS);
  const [left, right] = [decimal(value), decimal(divisor)];
  const exponent = Math.min(left.exponent, right.exponent);
  return scaled(left, exponent) % scaled(right, exponent) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const scaled = ({ digits, exponent }: Decimal, to: number): bigint => digits * 10n ** BigInt(exponent - to);

function decimal(value: number): Decimal {
  const [mantissa = "0", power = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

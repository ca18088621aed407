/** A memory of a limited size. */

/** Puts it in as the newest. When there are more than `max`, the oldest is forgotten. */
export function remember<K, V>(known: Map<K, V>, key: K, value: V, max: number): void {
  known.delete(key);
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > max && oldest !== undefined) known.delete(oldest);
}

/** The token in an Authorization header. */

export function readBearer(header: string | null): string | null {
  const value = /^bearer +(\S.*)$/i.exec(header?.trim() ?? "")?.[1];
  return value === undefined ? null : value;
}

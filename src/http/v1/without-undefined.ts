/** Returns `from` without keys whose value is undefined: optional properties are absent rather than undefined. */
export function withoutUndefined<T extends object>(from: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as T;
}

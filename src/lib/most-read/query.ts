/** Parameters of the popularity calls. */

/** A whole number above 0 that is no longer than an id; `null`: it is none. */
export const idOf = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;

/** `limit`: the service bounds it; what is no number is as if it were not there. */
export const limitOf = (text: string | null): number | undefined => idOf(text ?? undefined) ?? undefined;

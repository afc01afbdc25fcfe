/** `Retry-After` in milliseconds, in either of its forms (RFC 9110, section 10.2.3): seconds, or a date. @param now epoch milliseconds */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const value = header.trim();
  if (/^\d{1,9}$/u.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

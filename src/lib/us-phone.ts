/** Phone numbers of the United States as readers type them (spec section 9: eleven digits, the country fixed). */

/** What one digit more or less of a number looks like. */
const shape = /^1?(\d{0,3})(\d{0,3})(\d{0,4})$/;

/**
 * A number as it is typed, in its form: `+1 (212) 555-0183`, or as much of that as there is. The country's 1 is put before it where it is
 * missing. What begins with another country's `+` is left alone, and is no number.
 */
export function formatUsPhone(text: string): string {
  const digits = text.replace(/\D/g, '');
  if (/^\s*\+(?!\s*1)\s*\d/.test(text)) return text;
  const own = digits.startsWith('1') ? digits.slice(1) : digits;
  const [, area = '', exchange = '', line = ''] = shape.exec(own.slice(0, 10)) ?? [];
  if (area === '') return digits === '' && !text.includes('+') ? '' : '+1 ';
  if (exchange === '') return area.length < 3 ? `+1 (${area}` : `+1 (${area})`;
  return line === '' ? `+1 (${area}) ${exchange}` : `+1 (${area}) ${exchange}-${line}`;
}

/**
 * The eleven digits of what was typed.
 *
 * @returns empty when nothing was, `null` when it is no number (spec section 8: "Invalid phone number")
 */
export function usPhoneDigits(text: string): string | null {
  const digits = text.replace(/\D/g, '');
  if (digits === '' || (digits === '1' && /^\s*\+1\s*$/.test(text))) return '';
  return /^[\d\s().+-]*$/.test(text) && /^1\d{10}$/.test(digits) ? digits : null;
}

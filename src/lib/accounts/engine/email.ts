/** E-mail addresses as the accounts know them. */

const form =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * The normal form: without white space around it, in lower case. Neither spaces nor line breaks nor a second address get
 * through, so that it may stand in the head of a mail.
 *
 * @returns `null` when it is none
 */
export function normalEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  if (email.length > 254 || !form.test(email)) return null;
  const local = email.slice(0, email.lastIndexOf('@'));
  return /^\.|\.\.|\.$/.test(local) ? null : email;
}

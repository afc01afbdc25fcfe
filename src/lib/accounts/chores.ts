/** What a page does for a reader without being asked: the repair call, and a newsletter's hint who is coming. */
import { recogniseMe, repair } from './session-client.ts';

/** Query parameter of a newsletter's links with the reader's e-mail address. */
const recognised = 'recognized_email';

/** When the repair call was made last is kept under this name. */
const repairedName = 'broadsheet-repaired';
/** The call is not made again in this browser for so long, in milliseconds. */
const repairedFor = 12 * 60 * 60 * 1000;

/**
 * Passes on who a newsletter's link says is coming (spec section 7), and takes the address out of the address bar at
 * once: it is personal, and a reader may pass the link on.
 *
 * @returns whether there was anybody to recognise
 */
export async function recogniseFromAddress(): Promise<boolean> {
  const url = new URL(location.href);
  const email = url.searchParams.get(recognised);
  if (email === null) return false;
  url.searchParams.delete(recognised);
  history.replaceState(history.state, '', url);
  if (!email.includes('@')) return false;
  await recogniseMe(email);
  return true;
}

/** Makes the repair call for a reader who is signed in (spec section 4), once in a while; the answer is not looked at. */
export function repairOnce(): void {
  try {
    const age = Date.now() - Number(localStorage.getItem(repairedName));
    if (age >= 0 && age < repairedFor) return;
    localStorage.setItem(repairedName, String(Date.now()));
  } catch {
    // Without storage it is once for each page.
  }
  void repair();
}

/** Another reader is signed in, or nobody. */
export function forgetRepair(): void {
  try {
    localStorage.removeItem(repairedName);
  } catch {
    // Could not be written either.
  }
}

/**
 * Fetches what a page does about its reader where there is something to do: somebody may be signed in, or was when a page was
 * last opened, or a newsletter says who is coming. Everybody else is anonymous and costs nothing, until another tab, or a popup in
 * this one, has news.
 */
import { readVisitor, sessionName, tabs } from '../lib/accounts/visitor.ts';

let started = false;

function start(): void {
  if (started) return;
  started = true;
  import('./session-page.ts').catch((error: unknown) => {
    started = false;
    console.error('Who is reading could not be found out.', error);
  });
}

function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(sessionName) !== null;
  } catch {
    return false;
  }
}

const marked = () => readVisitor(document.cookie) !== null || document.documentElement.dataset.visitor !== undefined;

if (marked() || wasSignedIn() || /[?&]recognized_email=/.test(location.search)) start();
else tabs(start);

// A page that comes back from the browser's memory may have missed a sign-in.
addEventListener('pageshow', () => marked() && start());

/**
 * The kind of reader for whom a page is laid out before the server is asked: it comes from a cookie that scripts can read, and
 * `data-visitor` on `<html>` passes it to the styles. It is only a hint: no access depends on it.
 */

import { type VisitorKind, visitorKinds } from './products.ts';

/** Name of the storage entry, lock and channel by which tabs share what they know about their reader (session-client.ts). */
export const sessionName = 'broadsheet-session';

/** Name of the hint cookie. */
export const visitorCookie = 'visitor';

const form = `(?:^|; )${visitorCookie}=(${visitorKinds.join('|')})(?:;|$)`;

/** The hint in a `document.cookie`, or `null`. */
export function readVisitor(cookies: string): VisitorKind | null {
  return (new RegExp(form).exec(cookies)?.[1] as VisitorKind | undefined) ?? null;
}

/**
 * Script of the document's head: marks `<html>` before the first paint, so that nothing moves afterwards. Its text is fixed,
 * because the security policy of a page names its hash.
 */
export const visitorScript = `{const d=document.documentElement.dataset,m=/${form}/.exec(document.cookie);if(m)d.visitor=m[1];else delete d.visitor}`;

/** Notifies other tabs of the browser about a change, such as a sign-in. */
export interface Tabs {
  notify(): void;
  close(): void;
}

/**
 * @param onChange called when another tab, or another instance in this page, has notified
 * @param name what the tabs share, by default the session
 */
export function tabs(onChange: () => void, name = sessionName): Tabs {
  if (typeof BroadcastChannel === 'undefined') {
    // The other tabs see a stored or removed session as a change of storage.
    const listen = ({ key }: StorageEvent) => {
      if (key === name) onChange();
    };
    addEventListener('storage', listen);
    return { notify() {}, close: () => removeEventListener('storage', listen) };
  }
  let channel: BroadcastChannel | null = null;
  const open = () => {
    channel ??= new BroadcastChannel(name);
    channel.onmessage = () => onChange();
  };
  // A page with an open channel can't enter the back/forward cache.
  const shut = () => {
    channel?.close();
    channel = null;
  };
  open();
  addEventListener('pagehide', shut);
  addEventListener('pageshow', open);
  return {
    notify: () => channel?.postMessage('changed'),
    close() {
      removeEventListener('pagehide', shut);
      removeEventListener('pageshow', open);
      shut();
    },
  };
}

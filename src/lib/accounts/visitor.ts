/**
 * The kind of reader that a page is laid out for before anything is asked: a cookie that scripts may read says it, and
 * `data-visitor` on `<html>` carries it to the styles. A hint and no proof: nothing is granted for it.
 */

import { type VisitorKind, visitorKinds } from './products.ts';

/** Under this name tabs share what they know of their reader: storage, lock and channel (session-client.ts). */
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
 * for the policy of a page names it by its hash.
 */
export const visitorScript = `{const m=/${form}/.exec(document.cookie);if(m)document.documentElement.dataset.visitor=m[1]}`;

/** A tab in which the reader signs in or out tells the browser's other tabs. */

export interface Tabs {
  tell(): void;
  close(): void;
}

/** @param onChange called when another tab has told, or another part of this page that holds tabs of its own */
export function tabs(onChange: () => void): Tabs {
  if (typeof BroadcastChannel === 'undefined') {
    // An answer that is kept or dropped is heard by the others as a change of storage.
    const heard = ({ key }: StorageEvent) => {
      if (key === sessionName) onChange();
    };
    addEventListener('storage', heard);
    return { tell() {}, close: () => removeEventListener('storage', heard) };
  }
  let channel: BroadcastChannel | null = null;
  const open = () => {
    channel ??= new BroadcastChannel(sessionName);
    channel.onmessage = () => onChange();
  };
  // A page with an open channel is not kept for the way back.
  const shut = () => {
    channel?.close();
    channel = null;
  };
  open();
  addEventListener('pagehide', shut);
  addEventListener('pageshow', open);
  return {
    tell: () => channel?.postMessage('changed'),
    close() {
      removeEventListener('pagehide', shut);
      removeEventListener('pageshow', open);
      shut();
    },
  };
}

/**
 * The kind of reader that a page is laid out for before anything is asked: a cookie that scripts may read says it, and
 * `data-visitor` on `<html>` carries it to the styles. A hint and no proof: nothing is granted for it.
 */

/** Kinds beyond anonymous, the highest last (spec section 6). Without a hint a reader is anonymous. */
export const visitorKinds = ['registered', 'subscriber', 'reader', 'member', 'founder'] as const;
export type VisitorKind = (typeof visitorKinds)[number];

/** Under this name tabs share what they know of their reader: storage, lock and channel (shared-answer.ts). */
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

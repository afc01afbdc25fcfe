/** Newsletters that a reader has chosen: from a form, through the link that proves the address, to the choices that are kept. */

import type { Session } from '../accounts/service.ts';
import { newsletters } from './model.ts';
import type { Newsletters } from './service.server.ts';

const page = '/account/subscribed';

/** @param chosen slugs; without any that there is, those are taken that are chosen before the reader chooses */
export function subscribedPath(chosen: readonly string[]): string {
  const known = newsletters.filter(({ slug }) => chosen.includes(slug));
  const slugs = (known.length > 0 ? known : newsletters.filter(({ first }) => first)).map(({ slug }) => slug);
  return `${page}?letters=${slugs.join('.')}`;
}

/** The choice in a path of {@link subscribedPath}; `null` for any other path. */
export function choiceOf(path: string): readonly string[] | null {
  const url = new URL(path, 'http://paper.invalid');
  if (url.pathname !== page) return null;
  const given = url.searchParams.get('letters')?.split('.') ?? [];
  return newsletters.filter(({ slug }) => given.includes(slug)).map(({ slug }) => slug);
}

/** Adds a choice to what was chosen before. */
export async function saveChoice(
  kept: Newsletters | null,
  session: Session,
  choice: readonly string[] | null,
): Promise<void> {
  if (choice && choice.length > 0) await kept?.add(session, choice);
}

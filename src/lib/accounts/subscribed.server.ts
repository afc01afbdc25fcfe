/** Newsletters that a reader has chosen: from a form, through the link that proves the address, to the profile. */
import { newsletters } from '../pages/newsletters.ts';
import type { Accounts, Session } from './service.ts';

/** Attribute of the profile: slugs of the chosen newsletters, separated by commas. */
export const newslettersAttribute = 'newsletters';

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
  accounts: Accounts,
  session: Session,
  choice: readonly string[] | null,
): Promise<void> {
  if (!choice || choice.length === 0) return;
  const before = String((await accounts.profile(session))[newslettersAttribute] ?? '').split(',');
  const slugs = [...new Set([...before, ...choice])].filter((slug) => slug !== '');
  await accounts.saveProfile(session, { [newslettersAttribute]: slugs.join(',') }, 'merge');
}

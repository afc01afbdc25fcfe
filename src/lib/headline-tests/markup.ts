/**
 * A place in a page that readers see in different forms. The page contains the story's own form as markup, followed by the other forms in
 * an HTML comment:
 *
 *     <!--[0123456789abcdef-->Own form<!--0123456789abcdef ["Second form","Third form"]-->
 *
 * The press serves the page with one form and no comment (`server/press/insertions.ts`). If the page is served in any other way, readers
 * see the story's own form.
 */
import type { Card, HeadlineTest } from '../content/model.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};
/** Text as markup, with exactly the bytes that Astro writes. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** Only a running test has several forms. */
const isRunning = (test: HeadlineTest | undefined): test is HeadlineTest => test?.state === 'running';

/** The markup of a place with all its forms. @param forms markup, the story's own first */
export function placeMarkup(id: string, [own = '', ...others]: readonly string[]): string {
  if (others.every((other) => other === own)) return own;
  // Without a ">" nothing in it ends the comment.
  return `<!--[${id}-->${own}<!--${id} ${JSON.stringify(others).replaceAll('>', '\\u003e')}-->`;
}

/** The headline of a card as markup, in all its forms. */
export function headlineMarkup({ title, test }: Pick<Card, 'title' | 'test'>): string {
  if (test?.state === 'won') return escaped(test.others[0]?.title ?? title);
  if (!isRunning(test)) return escaped(title);
  return placeMarkup(test.id, [title, ...test.others.map((other) => other.title)].map(escaped));
}

/** The pictures of a card: the one that is shown, and alternatives if a running test has any. */
export function picturesOf({ image, test }: Pick<Card, 'image' | 'test'>): {
  readonly own: Card['image'];
  readonly others: readonly NonNullable<Card['image']>[];
} {
  if (test?.state === 'won') return { own: test.others[0]?.image ?? image, others: [] };
  // The test must not change a card's shape: a card without its own picture doesn't get one.
  if (!isRunning(test) || image === null || test.others.every((other) => other.image === null)) {
    return { own: image, others: [] };
  }
  return { own: image, others: test.others.map((other) => other.image ?? image) };
}

/** A card as shown where nothing is tested, for example in search results. */
export const untested = <Some extends Card>({ test: _test, ...card }: Some): Omit<Some, 'test'> => card;

const places = /<!--\[([0-9a-f]{16})-->([\s\S]*?)<!--\1 (\[[^>]*\])-->/g;

/**
 * Returns a page in which every place has only one form.
 *
 * @param choose the number of the form, 0 for the story's own; called once for each place
 * @returns `null` for a page without such a place
 */
export function withForms(html: string, choose: (id: string, forms: number) => number): string | null {
  let found = false;
  const chosen = html.replace(places, (whole, id: string, own: string, list: string) => {
    const others = formsIn(list);
    if (others === null) return whole;
    found = true;
    return [own, ...others][choose(id, others.length + 1)] ?? own;
  });
  return found ? chosen : null;
}

function formsIn(list: string): readonly string[] | null {
  try {
    const read: unknown = JSON.parse(list);
    return Array.isArray(read) && read.every((each) => typeof each === 'string') ? read : null;
  } catch {
    return null;
  }
}

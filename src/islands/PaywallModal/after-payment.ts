/** After the payment (spec section 4): refreshes the session, sends the metadata, and opens the article or /thankyou. */
import { geo } from '../../lib/accounts/client.ts';
import type { GeoAnswer } from '../../lib/accounts/schema.ts';
import { saveMetadata } from '../../lib/billing/client.ts';
import { limits, type metadataFields, type Subscription } from '../../lib/billing/schema.ts';
import type { Reply } from '../../lib/http/ask.ts';
import { paywall as messages } from '../../lib/plans/messages.ts';
import { $printPromoLastSeen } from '../../stores/persisted.ts';
import { refreshSession } from '../../stores/session.ts';
import { closePaywall } from '../../stores/ui.ts';
import styles from './PaywallModal.module.css';

/** Longest wait for the metadata, milliseconds. */
const metadataTimeoutMs = 3000;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Closes the paywall and continues: an article opens in place; other pages lead to /thankyou.
 *
 * @param kind of the quote that was paid
 */
export async function closeAfterPayment(
  subscription: Subscription | null,
  email: string | null,
  kind: string,
): Promise<void> {
  // A new subscriber doesn't see the print offer on the same day.
  if (kind === 'new') $printPromoLastSeen.set(Date.now());
  const [article] = await Promise.all([
    hasPaywall() && kind !== 'downgrade'
      ? refreshSession().then(() => fetchArticle())
      : refreshSession().then(() => null),
    subscription && kind === 'new'
      ? Promise.race([sendMetadata(subscription.id, email), wait(metadataTimeoutMs)])
      : null,
  ]);
  closePaywall();
  if (!article) return location.assign(kind === 'downgrade' ? '/dashboard/account' : '/thankyou');
  // The closing dialog first returns the focus to its opener.
  await wait(50);
  article();
}

async function sendMetadata(subscriptionId: string, email: string | null): Promise<void> {
  const place = await geo();
  await saveMetadata(subscriptionId, metadataOf(new URL(location.href), email, window.innerWidth, place));
}

/** `mobile`, `tablet` or `desktop`, by the width of the window (spec section 9, breakpoints). */
export const deviceType = (width: number): string => (width < 768 ? 'mobile' : width < 1024 ? 'tablet' : 'desktop');

/** The metadata, without empty values. @param page address of the page that was joined on */
export function metadataOf(
  page: URL,
  email: string | null,
  width: number,
  geo: Reply<GeoAnswer>,
): Record<string, string> {
  const utm = (name: string) => page.searchParams.get(`utm_${name}`) ?? '';
  const place = geo.ok ? geo.value : null;
  const all: Record<(typeof metadataFields)[number], string> = {
    created_with: 'web',
    customer_email: email ?? '',
    // Without the fragment, and without the reader's email address that newsletter links carry.
    query_url: withoutReader(page),
    query_utm_campaign: utm('campaign'),
    query_utm_content: utm('content'),
    query_utm_medium: utm('medium'),
    query_utm_source: utm('source'),
    device_type: deviceType(width),
    geo_city: place?.city ?? '',
    geo_country: place?.country ?? '',
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, value.slice(0, limits.metadata)]),
  );
}

function withoutReader(page: URL): string {
  const url = new URL(page);
  url.hash = '';
  url.searchParams.delete('recognized_email');
  return url.href;
}

/** The excerpt of a cut article. */
const cut = '.story .body > .prose[data-cut]';
/** Milliseconds between tries: the access cookie may arrive with a later answer. */
const pauses = [0, 300, 1000, 2500];

/** The paywall over a metered article, whose text is in the page. */
const overlay = '.metered-paywall:not([hidden])';
/** Elements that are left out, because they need scripts which this page doesn't have. */
const leftOut = '[data-ad-slot], [data-gift], script, template';
/** Parts of the text that need scripts or styles which this page doesn't have. */
const scripted = '.sound, .live, .embed, audio';

/** Whether this page is a cut article. */
export const isCut = (page: Document = document): boolean => page.querySelector(cut) !== null;

/** Whether this page is an article with a paywall. */
export const hasPaywall = (): boolean => isCut() || document.querySelector(overlay) !== null;

/** @returns a function that shows the whole article, in place if that is possible; `null` if it could not be loaded */
export async function fetchArticle(): Promise<(() => void) | null> {
  const paywall = document.querySelector<HTMLElement>(overlay);
  if (paywall && !isCut()) return () => uncover(paywall);
  for (const pause of pauses) {
    await wait(pause);
    const full = await fetchFull(location.pathname + location.search);
    const excerpt = document.querySelector<HTMLElement>(cut);
    if (full && excerpt) return full.some(isScripted) ? () => location.reload() : () => replaceExcerpt(excerpt, full);
  }
  return null;
}

const isScripted = (part: Element): boolean => part.matches(scripted) || part.querySelector(scripted) !== null;

async function fetchFull(path: string): Promise<Element[] | null> {
  try {
    const answer = await fetch(path, {
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'text/html' },
    });
    if (!answer.ok) return null;
    const other = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (isCut(other)) return null;
    const shown = [...other.querySelectorAll('.story .body > *')].filter((part) => !part.matches(leftOut));
    return shown.some((part) => part.matches('.prose')) ? shown : null;
  } catch {
    return null;
  }
}

function replaceExcerpt(excerpt: HTMLElement, full: readonly Element[]): void {
  const top = scrollY;
  const read = excerpt.textContent?.length ?? 0;
  const old: Element[] = [];
  for (let part: Element | null = excerpt; part; part = part.nextElementSibling) old.push(part);
  const fresh = full.map((part) => document.importNode(part, true) as HTMLElement);
  excerpt.before(...fresh);
  for (const part of old) part.remove();
  const first = fresh.find((part) => part.matches('.prose'));
  const next = first && blockAfter(first, read);
  const note = createWelcome();
  if (next) next.before(note);
  else first?.before(note);
  // Keyboard and screen reader users continue where the excerpt ended.
  focusBlock(next ?? first);
  scrollTo({ top, behavior: 'instant' });
}

/** Removes the overlay and adds a note where the reader is. */
function uncover(paywall: HTMLElement): void {
  paywall.hidden = true;
  const blocks = [...document.querySelectorAll<HTMLElement>('.story .body > .prose > *')];
  const here = blocks.find((block) => block.getBoundingClientRect().top > 0) ?? blocks[0];
  here?.before(createWelcome());
  focusBlock(here);
}

/** Moves the focus to a block of text, which must be made focusable first. */
function focusBlock(block: HTMLElement | null | undefined): void {
  if (!block) return;
  block.tabIndex = -1;
  block.focus({ preventScroll: true });
  block.addEventListener('blur', () => block.removeAttribute('tabindex'), { once: true });
}

/** The first block of the full text after as many characters as the excerpt had. */
function blockAfter(prose: HTMLElement, read: number): HTMLElement | null {
  let seen = 0;
  for (const block of prose.children) {
    if (seen >= read - 1) return block as HTMLElement;
    seen += block.textContent?.length ?? 0;
  }
  return null;
}

/** A note that welcomes the subscriber and links to /thankyou. */
function createWelcome(): HTMLElement {
  const note = document.createElement('p');
  note.className = styles.joined ?? '';
  note.setAttribute('role', 'status');
  note.dataset.joined = '';
  const link = document.createElement('a');
  link.href = '/thankyou';
  link.textContent = messages.seeMore;
  note.append(`${messages.welcome} `, link);
  return note;
}

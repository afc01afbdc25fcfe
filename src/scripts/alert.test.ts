// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { closedKey } from '../lib/alerts/model.ts';
import { renewAlert, showAlert } from './alert.ts';

const banner = (id: string, { text = 'The bridge is open', until = Date.now() + 60_000 } = {}): string =>
  `<section class="alert" aria-label="Breaking news" data-alert="${id}" data-until="${until}"><style>.alert{color:#fff}</style><details open><summary aria-label="Hide this news"></summary><p><b>Breaking</b><a href="/article/a">${text}</a></p></details><script>globalThis.hasRun = true</script></section>\n`;

let top = 0;
const scrolled: number[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  document.body.innerHTML =
    '<a class="skip-link" href="#main">Skip</a><header></header><main id="main" tabindex="-1"></main>';
  top = 100;
  scrolled.length = 0;
  vi.stubGlobal('scrollY', 0);
  vi.stubGlobal('scrollBy', ({ top: by }: { top: number }) => void scrolled.push(by));
  // A banner is 40 pixels high.
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(
    () => ({ top: top + (document.querySelector('.alert') ? 40 : 0) }) as DOMRect,
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const shown = () =>
  [...document.querySelectorAll<HTMLElement>('.skip-link + .alert')].map(({ dataset }) => dataset.alert);
function spoken(): string {
  vi.advanceTimersByTime(200);
  return document.querySelector('[role=status]')?.textContent ?? '';
}

it('a new alert is inserted after the skip link, announced politely, and runs no script', () => {
  showAlert(banner('a'));
  expect([shown(), spoken()]).toEqual([['a'], 'Breaking news: The bridge is open']);
  expect([document.querySelector('.alert script'), Reflect.get(globalThis, 'hasRun')]).toEqual([null, undefined]);
  showAlert(banner('a'));
  showAlert(banner('b', { text: 'It is closed' }));
  expect([shown(), spoken()]).toEqual([['b'], 'Breaking news: It is closed']);
  expect(document.querySelectorAll('[role=status]')).toHaveLength(1);
});

it('a withdrawn alert is removed, even when it has the focus', () => {
  showAlert(banner('a'));
  document.querySelector<HTMLElement>('.alert a')?.focus();
  showAlert('-');
  expect([shown(), spoken(), document.activeElement?.id]).toEqual([
    [],
    'The breaking news has been withdrawn.',
    'main',
  ]);
});

it('an expired alert is removed without an announcement', () => {
  showAlert(banner('a'));
  const words = spoken();
  vi.advanceTimersByTime(61_000);
  showAlert('');
  expect([shown(), spoken()]).toEqual([[], words]);
});

/** What a browser does at a press of the button that hides the alert. */
function hide(): void {
  const details = document.querySelector('details');
  if (!details) throw new Error('no banner');
  details.querySelector('summary')?.focus();
  details.open = false;
  details.dispatchEvent(new Event('toggle'));
}

it('an alert that the reader only hid is not announced as withdrawn, and leaves the focus in the page', () => {
  showAlert(banner('a'));
  const words = spoken();
  hide();
  expect([localStorage.getItem(closedKey), document.activeElement?.id]).toEqual(['a', 'main']);
  showAlert(banner('a'));
  expect([shown(), spoken()]).toEqual([[], words]);
});

it('an alert that the reader hid in another tab replaces no announcement, and removes the one before it', () => {
  showAlert(banner('a'));
  const words = spoken();
  localStorage.setItem(closedKey, 'b');
  showAlert(banner('b'));
  expect([shown(), spoken()]).toEqual([[], words]);
});

it('adding or removing an alert scrolls the page by its height, except at the top of the page', () => {
  showAlert(banner('a'));
  expect(scrolled).toEqual([]);
  vi.stubGlobal('scrollY', 700);
  showAlert('-');
  showAlert(banner('b'));
  expect(scrolled).toEqual([-40, 40]);
});

it('an alert that the reader has closed, or that has expired, is not shown again', () => {
  showAlert(banner('a'));
  hide();
  expect(localStorage.getItem(closedKey)).toBe('a');
  document.querySelector('.alert')?.remove();
  showAlert(banner('a'));
  expect(shown()).toEqual([]);
  showAlert(banner('old', { until: Date.now() - 1 }));
  expect(shown()).toEqual([]);
});

it('an alert works without browser storage, and is not shown on a page without a place for it', () => {
  vi.stubGlobal('localStorage', {
    getItem() {
      throw new DOMException('denied');
    },
  });
  showAlert(banner('a'));
  expect(shown()).toEqual(['a']);
  document.body.innerHTML = '<main id="main"></main>';
  showAlert(banner('b'));
  expect([document.querySelector('.alert'), spoken()]).toEqual([null, '']);
});

it.each<[string, () => Promise<Response>]>([
  ['no network', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['a server error', async () => new Response(banner('b'), { status: 503 })],
])('the alert is revalidated, stays as it is with %s, and is removed once there is none', async (_, fails) => {
  const asked = vi.fn(async (_address: string, _how: RequestInit) => new Response(banner('a')));
  vi.stubGlobal('fetch', asked);
  await renewAlert();
  expect([shown(), asked.mock.calls]).toEqual([['a'], [['/fragments/alert', { cache: 'no-cache' }]]]);
  vi.stubGlobal('fetch', fails);
  await renewAlert();
  expect(shown()).toEqual(['a']);
  vi.stubGlobal('fetch', async () => new Response('-'));
  await renewAlert();
  expect([shown(), spoken()]).toEqual([[], 'The breaking news has been withdrawn.']);
});

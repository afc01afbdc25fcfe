/** The paywall in a document, with a server and a Stripe that respond as the test tells them to. */
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { act } from 'react';
import { expect, vi } from 'vitest';
import { anonymousSession } from '../../lib/accounts/session.ts';
import { closePaywall, openPaywall, type PaywallPayload } from '../../stores/ui.ts';
import { type Drawn, draw, named, settle } from '../shared/testing.tsx';
import { Paywall } from './PaywallModal.island.tsx';
import { bought, type FakeStripe, fakeStripe, plansAnswer, quoteOf, subscriptionOf } from './testing.ts';
import { $session, onServer, reader } from './testing-session.ts';

/** The requests, and the response to each. */
export let asked: { path: string; body: unknown }[] = [];
export let answers: Record<string, () => Response | Promise<Response>> = {};
export let stripe: FakeStripe;
/** Each test has its own script, because a page keeps what it has loaded. */
let turn = 0;
export const scriptUrl = () => `https://js.stripe.example/${turn}.js`;
const makeStripe = () => stripe.stripe;
Object.assign(window, { Stripe: makeStripe });
export function setStripe(fake: FakeStripe): void {
  stripe = fake;
}
export let drawn: Drawn;

export const json = (body: object | null, status = 200) => HttpResponse.json(body as never, { status });
export const standard = (): typeof answers => ({
  '/api/v1/checkout/plans': () => json({ ...plansAnswer, scriptUrl: scriptUrl() }),
  '/api/v1/checkout/quote': () => json(quoteOf(12_000)),
  '/api/v1/checkout/get-coupon': () => json({ discount_code: 'SUNSHINE20', amount_off: null, percent_off: 20 }),
  '/api/verification': () => json({ verified: true }),
  '/api/zephr-create': () => {
    onServer.signedIn = true;
    return json({ sessionId: 's' });
  },
  '/blaize/account': () => json({ identifiers: { email_address: 'ada@example.com' }, tracking_id: 't', profile: {} }),
  '/blaize/payment/stripe/subscribe': () => json(bought()),
  '/blaize/payment/stripe/subscription/confirmation': () => json({ grant_id: 'grant-1' }),
  '/api/v1/me/subscription': () => json({ subscription: subscriptionOf() }),
  '/api/v1/me/subscription/switch': () => json({ ...bought(), effective: 'now' }),
  '/api/v1/me/shipping': () => json({ shipping: null }),
});

const server = setupServer(
  http.all('*', async ({ request }) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    asked.push({ path: `${request.method} ${path}`, body: text === '' ? null : JSON.parse(text) });
    const answer = answers[path];
    if (!answer) throw new Error(`The test has no answer for ${path}.`);
    return answer();
  }),
);
export const bodies = (path: string) => asked.filter((one) => one.path.endsWith(path)).map(({ body }) => body);

export const startServer = () => server.listen({ onUnhandledFrame: 'error' });
export const stopServer = () => server.close();

export async function reset(): Promise<void> {
  sessionStorage.clear();
  const { dropDraft, endAttempt } = await import('../../stores/paywall.ts');
  dropDraft();
  endAttempt();
  [onServer.signedIn, onServer.product, asked, answers] = [false, null, [], standard()];
  $session.set(anonymousSession);
  stripe = fakeStripe();
  turn++;
}

export async function closeAll(): Promise<void> {
  await act(async () => closePaywall());
  await drawn.remove();
  vi.clearAllMocks();
}

export const sheet = () => drawn.host.querySelector('dialog') as HTMLDialogElement;
export const step = (name: string) => sheet().querySelector<HTMLElement>(`[data-step="${name}"]`) as HTMLElement;
export const openStep = () => sheet().querySelector<HTMLElement>('[data-open]')?.dataset.step;
export const alerts = () =>
  [...sheet().querySelectorAll('[role="alert"]')].map((one) => one.textContent).filter((text) => text !== '');
export const pay = () => named<HTMLButtonElement>('button[type="submit"]', /^Join the Sun|Paying|bank|looking/);
export const text = (element: Element) => (element.textContent ?? '').replace(/\s+/g, ' ');

export const tag = () => document.querySelector(`script[src="${scriptUrl()}"]`);

/** The script's tag doesn't load here, so the test dispatches its load event. */
export async function loadScript(): Promise<void> {
  await settle(() => expect(document.querySelector('script[src^="https://js.stripe"]')).not.toBeNull());
  await act(async () => {
    for (const tag of document.querySelectorAll('script[src^="https://js.stripe"]'))
      tag.dispatchEvent(new Event('load'));
  });
  await settle(() => expect(sheet().querySelector('[data-fake-element]')).not.toBeNull());
}

export async function drawPaywall(): Promise<void> {
  drawn = await draw(<Paywall />);
}

export async function open(payload: PaywallPayload = { planId: 'reader-yearly' }): Promise<void> {
  await drawPaywall();
  await act(async () => openPaywall(payload));
  // While it loads, a skeleton has the place and the name of the first step.
  await settle(() => expect(sheet().querySelector('section[data-step]')).not.toBeNull());
}

export async function openSignedIn(payload?: PaywallPayload): Promise<void> {
  onServer.signedIn = true;
  $session.set(reader());
  await open(payload);
  await settle(() => expect(text(step('account'))).toContain('ada@example.com'));
}

export async function toPayment(payload?: PaywallPayload): Promise<void> {
  await openSignedIn(payload);
  await loadScript();
  await settle(() => expect(text(sheet())).toContain('Renewal date'));
  await settle(() => expect(sheet().querySelector('[aria-busy="true"]')).toBeNull());
}

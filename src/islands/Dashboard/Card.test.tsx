// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { act } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakeStripe, fakeStripe, plansAnswer } from '../PaywallModal/testing.ts';
import { button, click, type Drawn, draw, named, settle, submit } from '../shared/testing.tsx';
import Card from './Card.island.tsx';

const { refreshSession } = vi.hoisted(() => ({ refreshSession: vi.fn(async () => {}) }));
vi.mock('../../stores/session.ts', () => ({ refreshSession }));

let answers: Record<string, () => Response> = {};
let asked: { path: string; body: unknown }[] = [];
let stripe: FakeStripe;
let drawn: Drawn;
let turn = 0;
const scriptUrl = () => `https://js.stripe.example/card-${turn}.js`;
const makeStripe = () => stripe.stripe;
Object.assign(window, { Stripe: makeStripe });
const json = (body: object, status = 200) => HttpResponse.json(body, { status });

const server = setupServer(
  http.all('*', async ({ request }) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    asked.push({ path, body: text === '' ? null : JSON.parse(text) });
    return answers[path]?.() ?? HttpResponse.error();
  }),
);
const keep = '/api/v1/me/payment-method';
beforeAll(() => server.listen());
beforeEach(() => {
  turn++;
  asked = [];
  stripe = fakeStripe();
  answers = {
    '/api/v1/checkout/plans': () => json({ ...plansAnswer, scriptUrl: scriptUrl() }),
    '/zephr/payment/stripe/setupIntentSecret': () => json({ clientSecret: 'seti_1_secret_1' }),
    [keep]: () => json({}),
  };
});
afterEach(async () => {
  await drawn.remove();
  vi.clearAllMocks();
});
afterAll(() => server.close());

const alerts = () =>
  [...drawn.host.querySelectorAll('[role="alert"]')].map((one) => one.textContent).filter((text) => text !== '');
const tag = () => document.querySelector(`script[src="${scriptUrl()}"]`);
const save = () => named<HTMLButtonElement>('button[type="submit"]', /^Use this card|One moment|Waiting/);

async function open(): Promise<void> {
  drawn = await draw(<Card />);
  await settle(() => expect(tag()).not.toBeNull());
  await act(async () => tag()?.dispatchEvent(new Event('load')));
  await settle(() => expect(drawn.host.querySelector('[data-fake-element]')).not.toBeNull());
}
async function send(): Promise<void> {
  await act(async () => stripe.fill());
  await submit(save().form as HTMLFormElement);
}

describe('replacing the card', () => {
  it('saves the new card with Stripe and then on the server', async () => {
    await open();
    expect(stripe.options[0]).toMatchObject({ mode: 'setup', currency: 'usd' });
    expect(save().disabled).toBe(true);
    await send();
    await settle(() => expect(drawn.host.textContent).toContain('We’ll charge this card from now on'));
    expect(stripe.confirmSetup).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ clientSecret: 'seti_1_secret_1', redirect: 'if_required' }),
    );
    expect(asked.at(-1)).toEqual({ path: keep, body: { payment_method: 'pm_2' } });
    expect(refreshSession).toHaveBeenCalledOnce();
    expect(document.activeElement?.textContent).toContain('Thank you.');
  });

  it('works with a wallet, whose sheet shows a failure', async () => {
    stripe = fakeStripe({ link: true });
    await open();
    const wallet = stripe.elements.find(({ type }) => type === 'expressCheckout');
    const resolve = vi.fn();
    await act(async () => wallet?.emit('click', { resolve, reject: vi.fn() }));
    expect(resolve).toHaveBeenCalledExactlyOnceWith({});
    stripe.confirmSetup.mockResolvedValueOnce({ error: { type: 'card_error', message: 'Not confirmed.' } } as never);
    const paymentFailed = vi.fn();
    await act(async () => wallet?.emit('confirm', { paymentFailed }));
    await settle(() =>
      expect(paymentFailed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: 'Not confirmed.' }),
    );
    await act(async () => wallet?.emit('confirm', { paymentFailed }));
    await settle(() => expect(drawn.host.textContent).toContain('We’ll charge this card from now on'));
    expect(asked.at(-1)).toEqual({ path: keep, body: { payment_method: 'pm_2' } });
    expect(paymentFailed).toHaveBeenCalledOnce();
  });

  it('answers a wallet whose sheet waits while the form shows what is missing', async () => {
    stripe = fakeStripe({ link: true });
    await open();
    const wallet = stripe.elements.find(({ type }) => type === 'expressCheckout');
    stripe.submit.mockResolvedValueOnce({ error: { type: 'validation_error', message: 'Incomplete.' } } as never);
    const paymentFailed = vi.fn();
    await act(async () => wallet?.emit('confirm', { paymentFailed }));
    await settle(() =>
      expect(paymentFailed).toHaveBeenCalledExactlyOnceWith({ reason: 'fail', message: expect.any(String) }),
    );
  });

  it('shows the card company’s reason when the card is refused', async () => {
    answers[keep] = () => json({ message: 'Your card was declined.' }, 402);
    await open();
    await send();
    await settle(() =>
      expect(alerts()).toEqual([
        'Your card was declined.',
        'Payment has failed - please check your card details, or try another payment method.',
      ]),
    );
    await act(async () => stripe.fill());
    expect(alerts()).toEqual([]);
  });

  it('sends nothing to the server when the bank does not confirm the card', async () => {
    await open();
    stripe.confirmSetup.mockResolvedValueOnce({ error: { type: 'card_error', message: 'Not confirmed.' } } as never);
    await send();
    await settle(() => expect(alerts()).toContain('Not confirmed.'));
    expect(asked.some(({ path }) => path === keep)).toBe(false);
  });

  it('lets the bank authenticate each open invoice before it reports success', async () => {
    const bills = ['pi_1_secret_1', 'pi_2_secret_2', null];
    answers[keep] = () => {
      const clientSecret = bills.shift() ?? null;
      return json({ clientSecret, paymentIntentStatus: clientSecret === null ? 'succeeded' : 'requires_action' });
    };
    const gate = Promise.withResolvers<{ paymentIntent: { status: string } }>();
    await open();
    stripe.handleNextAction.mockImplementationOnce(() => gate.promise);
    await send();
    await settle(() => expect(save().textContent).toBe('Waiting for your bank…'));
    expect(drawn.host.textContent).not.toContain('We’ll charge this card from now on');
    await act(async () => gate.resolve({ paymentIntent: { status: 'succeeded' } }));
    await settle(() => expect(drawn.host.textContent).toContain('We’ll charge this card from now on'));
    expect(stripe.handleNextAction.mock.calls).toEqual([
      [{ clientSecret: 'pi_1_secret_1' }],
      [{ clientSecret: 'pi_2_secret_2' }],
    ]);
    expect(stripe.confirmSetup).toHaveBeenCalledOnce();
    expect(asked.filter(({ path }) => path === keep).map(({ body }) => body)).toEqual(
      Array.from({ length: 3 }, () => ({ payment_method: 'pm_2' })),
    );
  });

  it('shows the bank’s reason when it refuses an invoice, and accepts another card', async () => {
    answers[keep] = () => json({ clientSecret: 'pi_1_secret_1', paymentIntentStatus: 'requires_action' });
    await open();
    stripe.handleNextAction.mockResolvedValueOnce({ error: { type: 'card_error', message: 'Not you.' } } as never);
    await send();
    await settle(() => expect(alerts()).toContain('Not you.'));
    expect(refreshSession).not.toHaveBeenCalled();
    answers[keep] = () => json({ clientSecret: null, paymentIntentStatus: 'succeeded' });
    await send();
    await settle(() => expect(drawn.host.textContent).toContain('We’ll charge this card from now on'));
    expect(stripe.confirmSetup).toHaveBeenCalledTimes(2);
  });

  it('does not save the card with Stripe twice when the connection is lost in between', async () => {
    answers[keep] = () => HttpResponse.error();
    await open();
    await send();
    await settle(() => expect(alerts()[0]).toContain('We couldn’t reach the server.'));
    answers[keep] = () => json({});
    await submit(save().form as HTMLFormElement);
    await settle(() => expect(drawn.host.textContent).toContain('We’ll charge this card from now on'));
    expect(stripe.confirmSetup).toHaveBeenCalledOnce();
  });

  it('can be tried again when the card form could not be loaded', async () => {
    answers['/api/v1/checkout/plans'] = () => json({}, 503);
    drawn = await draw(<Card />);
    await settle(() => expect(alerts()[0]).toContain('The card form didn’t load.'));
    answers['/api/v1/checkout/plans'] = () => json({ ...plansAnswer, scriptUrl: scriptUrl() });
    await click(button('Try again'));
    await settle(() => expect(tag()).not.toBeNull());
  });
});

// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Shipping as Address } from '../../lib/billing/schema.ts';
import { valuesOf } from '../../lib/plans/schema.ts';
import { button, click, type Drawn, draw, field, named, submit, type } from '../shared/testing.tsx';
import Shipping from './Shipping.island.tsx';

const address: Address = {
  name: 'Benjamin Day',
  address: { line1: '222 William Street', city: 'New York', state: 'NY', postal_code: '10038', country: 'US' },
};
const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
let drawn: Drawn;

beforeEach(() => {
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
});
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

const form = () => drawn.host.querySelector<HTMLFormElement>('form[method="post"]') as HTMLFormElement;
const alerts = () =>
  [...drawn.host.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).filter(Boolean);
const state = () => named<HTMLSelectElement>('select', 'State');

describe('the shipping address without a script', () => {
  it('is a plain form that posts to its own page', async () => {
    drawn = await draw(<Shipping saved={null} editing={false} />);
    expect([form().getAttribute('action'), form().method]).toEqual(['/shipping', 'post']);
    expect([...new FormData(form()).keys()]).toEqual([
      'name',
      'line1',
      'line2',
      'city',
      'state',
      'postal_code',
      'phone',
    ]);
  });

  it('shows again what was typed, with the error at its field', async () => {
    const typed = { name: 'Ann', line1: '', line2: '', city: 'Ames', state: 'IA', postal_code: '1', phone: '' };
    drawn = await draw(<Shipping saved={address} editing typed={typed} errors={{ postal_code: 'Not a ZIP code.' }} />);
    expect([field('Name').value, field('City').value, state().value]).toEqual(['Ann', 'Ames', 'IA']);
    const zip = field('ZIP code');
    expect(zip.getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(zip.getAttribute('aria-describedby') ?? '')?.textContent).toBe('Not a ZIP code.');
  });

  it('is shown once it is saved, with a button that leads to the form', async () => {
    drawn = await draw(<Shipping saved={address} editing={false} justSaved />);
    expect(drawn.host.querySelector('address')?.textContent).toContain('New York, NY 10038');
    expect(drawn.host.querySelector('[role="status"]')?.textContent).toBe('Your shipping address has been saved.');
    const way = button('Update Shipping Address').form as HTMLFormElement;
    expect(`${way.getAttribute('action')}?${new URLSearchParams(new FormData(way) as never)}`).toBe(
      '/shipping?edit=yes',
    );
  });
});

describe('the shipping form with a script', () => {
  async function edit(saved: Address | null = address) {
    drawn = await draw(<Shipping saved={saved} editing={false} />);
    if (saved) await submit(button('Update Shipping Address').form as HTMLFormElement);
  }

  it('opens with the focus on its first field, and closes on Cancel without a request', async () => {
    await edit();
    expect(field('Name').value).toBe('Benjamin Day');
    expect(document.activeElement).toBe(field('Name'));
    await click(named('a', 'Cancel'));
    expect(drawn.host.querySelector('address')).not.toBeNull();
    expect(fetched).not.toHaveBeenCalled();
  });

  it('opens with the address saved last, not with the one that the server refused earlier', async () => {
    const typed = { ...valuesOf(address), city: 'Nowhere' };
    drawn = await draw(
      <Shipping saved={null} editing typed={typed} errors={{ city: 'No such city.' }} problem="No." />,
    );
    fetched.mockResolvedValue(Response.json({ shipping: address }));
    await type(field('City'), 'New York');
    await submit(form());
    await vi.waitFor(() => expect(drawn.host.querySelector('address')).not.toBeNull());
    await submit(button('Update Shipping Address').form as HTMLFormElement);
    expect([field('City').value, alerts()]).toEqual(['New York', []]);
  });

  it('checks all fields before saving, and focuses the first wrong one', async () => {
    await edit();
    await type(field('City'), '');
    await type(field('ZIP code'), '90210');
    await submit(form());
    expect(alerts()).toEqual([
      'Please enter your city.',
      '90210 is not in New York. Please check the ZIP code and the state.',
    ]);
    expect(document.activeElement).toBe(field('City'));
    await type(field('City'), 'N');
    expect(alerts()).toHaveLength(1);
    expect(document.activeElement).toBe(field('City'));
    expect(fetched).not.toHaveBeenCalled();
  });

  it('saves in place, shows the address that the server stored, and says that it is saved', async () => {
    await edit();
    const kept = { ...address, name: 'Kept' };
    fetched.mockResolvedValue(Response.json({ shipping: kept }));
    await type(field('Apartment, floor (optional)'), 'Attic');
    await submit(form());
    const [path, init] = fetched.mock.calls[0] ?? [];
    expect([path, init?.method]).toEqual(['/api/v1/me/shipping', 'POST']);
    expect(JSON.parse(String(init?.body))).toEqual({ ...address, address: { ...address.address, line2: 'Attic' } });
    await vi.waitFor(() => expect(drawn.host.querySelector('address')?.textContent).toContain('Kept'));
    expect(drawn.host.querySelector('[role="status"]')?.textContent).toBe('Your shipping address has been saved.');
    expect(document.activeElement).toBe(drawn.host.querySelector('address'));
  });

  it.each([
    ['what the server reports', 422, { message: 'This address is unknown.' }, 'This address is unknown.'],
    [
      'that something went wrong after a server error',
      502,
      { message: 'stack' },
      'Something went wrong. Please try again.',
    ],
    ['that the session has ended', 401, {}, 'You’re signed out. Sign in in another tab, then save again.'],
    ['to wait when the server’s limit is reached', 429, { message: 'Please wait.' }, 'Please wait.'],
  ])('says %s, and keeps what was typed', async (_what, status, body, words) => {
    await edit(null);
    for (const [label, value] of [
      ['Name', 'Ann'],
      ['Address', '1 Main Street'],
      ['City', 'Ames'],
      ['ZIP code', '50010'],
    ] as const)
      await type(field(label), value);
    state().value = 'IA';
    fetched.mockResolvedValue(Response.json(body, { status }));
    await submit(form());
    await vi.waitFor(() => expect(alerts()).toEqual([words]));
    expect([field('Name').value, state().value]).toEqual(['Ann', 'IA']);
  });

  it('offers another confirmation email when the server says that the email address is unconfirmed', async () => {
    const offer = () => drawn.host.querySelector('a[href^="/account/confirm"]')?.getAttribute('href');
    await edit();
    fetched.mockResolvedValue(Response.json({ message: 'Please wait.' }, { status: 403 }));
    await submit(form());
    await vi.waitFor(() => expect(alerts()).toEqual(['Please wait.']));
    expect(offer()).toBeUndefined();
    fetched.mockResolvedValue(Response.json({ message: 'Confirm first.', code: 'unconfirmed' }, { status: 403 }));
    await submit(form());
    await vi.waitFor(() => expect(alerts()[0]).toMatch(/^Confirm first\./));
    expect(offer()).toBe('/account/confirm?return=%2F');
  });

  it('sends one request for two submits within one frame', async () => {
    await edit();
    fetched.mockResolvedValue(Response.json({ shipping: address }));
    await act(async () => {
      for (let times = 0; times < 2; times++) {
        form().dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));
      }
    });
    expect(fetched).toHaveBeenCalledOnce();
  });

  it('sends one request for two submits, and says when the server cannot be reached', async () => {
    await edit();
    const gate = Promise.withResolvers<Response>();
    fetched.mockReturnValue(gate.promise);
    await submit(form());
    await submit(form());
    expect(button('Saving…').getAttribute('aria-disabled')).toBe('true');
    await act(async () => gate.reject(new TypeError('offline')));
    await vi.waitFor(() => expect(alerts().join()).toMatch(/couldn’t reach the server/));
    expect(fetched).toHaveBeenCalledOnce();
  });
});

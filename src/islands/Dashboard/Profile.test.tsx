// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { button, type Drawn, draw, field, submit, type } from '../shared/testing.tsx';
import Profile, { type ProfileProps } from './Profile.island.tsx';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
let drawn: Drawn;
const props: ProfileProps = {
  profile: { first_name: 'Ada', 'phone-number': '12125550183', date_of_birth: '1990-05-04' },
  email: 'ada@example.com',
  trackingId: 'track-1',
  returnTo: '/profile',
};
const form = () => drawn.host.querySelector('form') as HTMLFormElement;
const status = () => drawn.host.querySelector('[role="status"]')?.textContent;
const alerts = () =>
  [...drawn.host.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).filter(Boolean);
const stored = () => ({ ...localStorage });

beforeEach(() => {
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
  localStorage.clear();
});
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
});

it('the profile is a plain form that shows the known values and the server’s complaint', async () => {
  drawn = await draw(<Profile {...props} problem="Invalid phone number" />);
  expect([form().getAttribute('action'), form().method]).toEqual(['/account/profile', 'post']);
  expect(Object.fromEntries(new FormData(form()))).toEqual({
    first_name: 'Ada',
    last_name: '',
    phone: '+1 (212) 555-0183',
    birthday: '1990-05-04',
    address: '',
    return: '/profile',
  });
  expect(alerts()).toEqual(['Invalid phone number']);
  expect(field('Phone (optional)').getAttribute('aria-invalid')).toBe('true');
});

describe('the profile form with a script', () => {
  beforeEach(async () => {
    drawn = await draw(<Profile {...props} />);
  });

  it('saves under the field names of the API, and keeps copies in the browser (spec sections 3 and 7)', async () => {
    fetched.mockImplementation(async () => Response.json({ message: 'ok' }));
    await type(field('Last name (optional)'), ' Whitlock ');
    await type(field('Address (optional)'), '1 Main St');
    await submit(form());
    await vi.waitFor(() => expect(status()).toBe('Your profile has been saved.'));
    const [path, init] = fetched.mock.calls[0] ?? [];
    expect([path, init?.method]).toEqual(['/blaize/profile', 'POST']);
    expect(JSON.parse(String(init?.body))).toEqual({
      first_name: 'Ada',
      last_name: 'Whitlock',
      'phone-number': '12125550183',
      date_of_birth: '1990-05-04',
      address: '1 Main St',
    });
    expect(stored()).toEqual({
      address: '1 Main St',
      firstName: 'Ada',
      lastName: 'Whitlock',
      email: 'ada@example.com',
      username: 'Ada',
      phone: '12125550183',
      birthday: '1990-05-04',
      token: 'track-1',
      trackingId: 'track-1',
    });
  });

  it('formats a phone number while it is typed, and lets the reader empty it', async () => {
    const phone = field('Phone (optional)');
    await type(phone, '21255');
    expect(phone.value).toBe('+1 (212) 55');
    await type(phone, '2125550184');
    expect(phone.value).toBe('+1 (212) 555-0184');
    await type(phone, '');
    fetched.mockImplementation(async () => Response.json({ message: 'ok' }));
    await submit(form());
    expect(JSON.parse(String(fetched.mock.calls[0]?.[1].body))['phone-number']).toBe('');
  });

  it.each(['212555', '+44 20 7946 0000'])(
    'rejects the phone number %s as invalid and sends no request',
    async (typed) => {
      await type(field('Phone (optional)'), typed);
      await submit(form());
      expect(alerts()).toEqual(['Invalid phone number']);
      expect(document.activeElement).toBe(field('Phone (optional)'));
      expect(fetched).not.toHaveBeenCalled();
    },
  );

  it.each([
    [
      'a server error',
      async () => Response.json({ message: 'stack' }, { status: 503 }),
      /^We couldn’t save your profile/,
    ],
    ['a missing connection', async () => Promise.reject(new TypeError('offline')), /^You’re offline/],
    ['an ended session', async () => Response.json({}, { status: 401 }), /^You’re signed out/],
  ])('reports %s in the status line and not as an alert, and keeps what was typed', async (_what, answer, words) => {
    fetched.mockImplementation(answer);
    await type(field('First name (optional)'), 'Adele');
    await submit(form());
    await vi.waitFor(() => expect(status()).toMatch(words));
    expect(alerts()).toEqual([]);
    expect(field('First name (optional)').value).toBe('Adele');
    expect(stored()).toEqual({});
  });

  it('shows the server’s complaint, and sends one request for two submits', async () => {
    const gate = Promise.withResolvers<Response>();
    fetched.mockReturnValue(gate.promise);
    await submit(form());
    await submit(form());
    expect(button('Save').getAttribute('aria-disabled')).toBe('true');
    await act(async () => gate.resolve(Response.json({ message: 'Invalid date of birth' }, { status: 400 })));
    await vi.waitFor(() => expect(alerts()).toEqual(['Invalid date of birth']));
    expect(fetched).toHaveBeenCalledOnce();
  });

  it('does not report as saved what was typed while it was saving', async () => {
    const gate = Promise.withResolvers<Response>();
    fetched.mockReturnValue(gate.promise);
    await submit(form());
    await type(field('First name (optional)'), 'Adele');
    await act(async () => gate.resolve(Response.json({})));
    await vi.waitFor(() => expect(status()).toBe(''));
  });
});

// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Drawn, draw } from '../shared/testing.tsx';
import Retention from './Retention.island.tsx';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
const settings = { appId: 'app', scriptUrl: 'https://widget.example/app.js', mode: 'test' } as const;
let own: HTMLElement;
let drawn: Drawn;

beforeEach(() => {
  fetched.mockReset().mockImplementation(() => new Promise(() => {}));
  vi.stubGlobal('fetch', fetched);
  own = document.createElement('div');
  own.dataset.ownFlow = '';
  document.body.append(own);
});
afterEach(async () => {
  await drawn.remove();
  own.remove();
  vi.unstubAllGlobals();
});

it('holds our own form back while the widget is fetched', async () => {
  own.style.visibility = 'hidden';
  drawn = await draw(<Retention {...settings} email="ada@example.com" />);
  expect([own.dataset.held, own.dataset.open]).toEqual(['', undefined]);
  expect(fetched.mock.calls.map(([path]) => path)).toEqual(['/api/churnkey']);
});

it('leaves our own form where it stands, once that has come forward by itself', async () => {
  drawn = await draw(<Retention {...settings} email="ada@example.com" />);
  expect([own.dataset.held, own.dataset.open]).toEqual([undefined, '']);
  expect(drawn.host.textContent).toBe('');
  expect(fetched).not.toHaveBeenCalled();
});

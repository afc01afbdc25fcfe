// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import type { Refused, Reply } from '../../lib/http/ask.ts';
import { PanelBoundary, PanelState, usePanel } from './Panel.tsx';
import { button, click, type Drawn, draw } from './testing.tsx';

let drawn: Drawn;
afterEach(async () => {
  await drawn.remove();
  vi.restoreAllMocks();
});

type Letters = readonly string[];
const granted = (value: Letters): Reply<Letters> => ({ ok: true, status: 200, value });
const refused = (status: number): Refused => ({
  ok: false,
  status,
  message: null,
  retryAfter: null,
  suggestedEmail: null,
});
function Letters({ load, first }: { load: () => Promise<Reply<Letters>>; first?: Letters }) {
  const { phase, value, retry } = usePanel({
    load,
    isEmpty: (all: Letters) => all.length === 0,
    first: first ?? null,
  });
  return (
    <PanelState phase={phase} empty="No letters." onRetry={retry}>
      <p>{value?.join(' ')}</p>
    </PanelState>
  );
}
let broken = false;
function Fragile() {
  if (broken) throw new Error('torn');
  return <p>whole</p>;
}
const phase = () => drawn.host.querySelector('[aria-live="polite"]')?.getAttribute('data-phase');
const offline = () => vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);

it('a panel says that it is loading, and then shows the result', async () => {
  const answer = Promise.withResolvers<Reply<Letters>>();
  drawn = await draw(<Letters load={() => answer.promise} />);
  expect(phase()).toBe('loading');
  expect(drawn.host.textContent).toBe('Loading…');
  await act(async () => answer.resolve(granted(['a', 'b'])));
  expect(phase()).toBe('ready');
  expect(drawn.host.textContent).toBe('a b');
});

it('a panel shows what the server rendered without a request', async () => {
  const load = vi.fn();
  drawn = await draw(<Letters load={load} first={['a']} />);
  expect(drawn.host.textContent).toBe('a');
  expect(load).not.toHaveBeenCalled();
});

it('a panel says that there is nothing to show', async () => {
  drawn = await draw(<Letters load={async () => granted([])} />);
  expect(phase()).toBe('empty');
  expect(drawn.host.textContent).toBe('No letters.');
});

it('a panel tries again once for two clicks, and keeps the keyboard focus', async () => {
  const answer = Promise.withResolvers<Reply<Letters>>();
  const load = vi.fn<() => Promise<Reply<Letters>>>().mockResolvedValueOnce(refused(502));
  load.mockReturnValueOnce(answer.promise);
  drawn = await draw(<Letters load={load} />);
  expect(drawn.host.textContent).toContain('Something went wrong. Please try again.');
  const again = button('Try again');
  await act(async () => {
    again.click();
    again.click();
  });
  expect(load).toHaveBeenCalledTimes(2);
  await act(async () => answer.resolve(granted(['a'])));
  expect(phase()).toBe('ready');
  expect(document.activeElement?.getAttribute('aria-live')).toBe('polite');
});

it('a panel says that the browser is offline, and loads when it is back online', async () => {
  const gone = offline();
  const load = vi.fn<() => Promise<Reply<Letters>>>().mockResolvedValueOnce(refused(0));
  load.mockResolvedValueOnce(granted(['a']));
  drawn = await draw(<Letters load={load} />);
  expect(phase()).toBe('offline');
  expect(drawn.host.textContent).toContain('You’re offline.');
  gone.mockReturnValue(true);
  await act(async () => window.dispatchEvent(new Event('online')));
  expect(drawn.host.textContent).toBe('a');
});

it('an error in one panel does not affect what is next to it, and the panel can be tried again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  broken = true;
  drawn = await draw(
    <>
      <PanelBoundary error="This could not be shown.">
        <Fragile />
      </PanelBoundary>
      <p>beside it</p>
    </>,
  );
  expect(drawn.host.textContent).toContain('This could not be shown.');
  expect(drawn.host.textContent).toContain('beside it');
  broken = false;
  await click(button('Try again'));
  expect(drawn.host.textContent).toBe('wholebeside it');
});

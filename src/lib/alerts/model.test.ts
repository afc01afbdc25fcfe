import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { type Alert, alertScript, closedKey, isRunning } from './model.ts';

const alert: Alert = {
  id: 'a',
  text: 'x',
  href: null,
  starts: '2026-11-25T12:00:00Z',
  until: '2026-11-25T16:00:00Z',
  mail: false,
  push: false,
};

it('an alert runs until its end time, and at most 48 hours', () => {
  const at = (time: string): boolean => isRunning(alert, Date.parse(time));
  expect([at('2026-11-25T15:59:59Z'), at('2026-11-25T16:00:00Z')]).toEqual([true, false]);
  // WordPress's clock may be ahead of ours.
  expect(at('2026-11-25T11:00:00Z')).toBe(true);
  const endless = { ...alert, until: '2030-01-01T00:00:00Z' };
  expect([47, 48].map((hours) => isRunning(endless, Date.parse(alert.starts) + hours * 3_600_000))).toEqual([
    true,
    false,
  ]);
});

/** Runs the banner's script in a minimal browser. */
function run(stored: Record<string, string> | null, dataset: { alert: string; until: string }) {
  const details = { open: true, ontoggle: () => {} };
  const main = { focused: false, focus: () => void Object.assign(main, { focused: true }) };
  const section = {
    dataset,
    removed: false,
    querySelector: () => details,
    remove() {
      section.removed = true;
    },
  };
  const context = {
    document: { currentScript: { parentNode: section }, querySelector: () => main },
    get localStorage() {
      if (stored === null) throw new Error('denied');
      return stored;
    },
    Date: { now: () => 1000 },
  };
  runInNewContext(alertScript, context);
  return { details, section, main };
}

it('the banner script removes an alert that the reader closed, and no other, and leaves the focus in the page', () => {
  const stored: Record<string, string> = {};
  const first = run(stored, { alert: 'a', until: '2000' });
  expect(first.section.removed).toBe(false);
  first.details.ontoggle();
  expect([stored, first.main.focused]).toEqual([{}, false]);
  first.details.open = false;
  first.details.ontoggle();
  expect([stored, first.main.focused]).toEqual([{ [closedKey]: 'a' }, true]);
  expect(run(stored, { alert: 'a', until: '2000' }).section.removed).toBe(true);
  expect(run(stored, { alert: 'b', until: '2000' }).section.removed).toBe(false);
});

it('the banner script removes an expired alert, even without storage', () => {
  expect(run({}, { alert: 'a', until: '999' }).section.removed).toBe(true);
  expect(run(null, { alert: 'a', until: '2000' }).section.removed).toBe(false);
  expect(run(null, { alert: 'a', until: '999' }).section.removed).toBe(true);
});

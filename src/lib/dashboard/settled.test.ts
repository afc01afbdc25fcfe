import { expect, it, vi } from 'vitest';
import { settled } from './settled.ts';

const log = () => ({ warn: vi.fn() });

it('gives what was read', async () => {
  const quiet = log();
  expect(await settled(async () => 7, { what: 'A number', log: quiet })).toEqual({ ok: true, value: 7 });
  expect(quiet.warn).not.toHaveBeenCalled();
});

it('makes a value of a failure, and logs it by its name', async () => {
  const heard = log();
  const failing = async () => {
    throw new Error('away');
  };
  expect(await settled(failing, { what: 'The invoices', log: heard })).toEqual({ ok: false });
  expect(heard.warn).toHaveBeenCalledWith({ err: new Error('away') }, 'The invoices could not be read for a page');
});

it('does not wait for ever', async () => {
  const heard = log();
  expect(await settled(() => new Promise(() => {}), { what: 'It', log: heard, patience: 1 })).toEqual({ ok: false });
  expect(heard.warn).toHaveBeenCalledOnce();
});

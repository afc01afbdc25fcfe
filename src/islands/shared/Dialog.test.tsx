// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import { Dialog } from './Dialog.tsx';
import { type Drawn, draw } from './testing.tsx';

let drawn: Drawn;
afterEach(() => drawn.remove());

const sheet = () => drawn.host.querySelector('dialog') as HTMLDialogElement;
/** What a browser does at the second Escape in a row: no `cancel` event that could be prevented. */
const closedByBrowser = () => act(async () => sheet().close());

it('a dialog that can’t be closed now stays open when the browser closes it', async () => {
  drawn = await draw(
    <Dialog heading="Join" onClose={null}>
      Paying
    </Dialog>,
  );
  await closedByBrowser();
  expect(sheet().open).toBe(true);
});

it('a dialog that can be closed tells its owner when the browser closes it', async () => {
  const onClose = vi.fn();
  drawn = await draw(
    <Dialog heading="Join" onClose={onClose}>
      Text
    </Dialog>,
  );
  await closedByBrowser();
  expect([sheet().open, onClose.mock.calls.length]).toEqual([false, 1]);
});

// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { $ui, closeUpgradeModal, openUpgradeModal } from '../../stores/ui.ts';
import { button, click, type Drawn, draw, named, settle } from '../shared/testing.tsx';
import { PrintUpsell, printEdition } from './PrintUpsell.island.tsx';

let drawn: Drawn;
beforeEach(async () => {
  openUpgradeModal(printEdition);
  drawn = await draw(<PrintUpsell />);
});
afterEach(async () => {
  await drawn.remove();
  closeUpgradeModal();
});

it('the print upsell links to the print edition', () => {
  expect(named('a', 'Upgrade Today').getAttribute('href')).toBe('/print');
  const dialog = drawn.host.querySelector('dialog') as HTMLDialogElement;
  expect(dialog.open).toBe(true);
  expect(document.getElementById(dialog.getAttribute('aria-labelledby') ?? '')?.textContent).toMatch(/paper/);
});

it.each(['Not now', 'Close'])('the print upsell closes on “%s”', async (name) => {
  await click(button(name));
  await settle(() => expect($ui.get().upgradeModal).toBeNull());
  expect(drawn.host.querySelector('dialog')).toBeNull();
});

it('the print upsell is not shown when another upsell is opened', async () => {
  await click(button('Close'));
  await settle(() => expect($ui.get().upgradeModal).toBeNull());
  await act(async () => openUpgradeModal('something-else'));
  await drawn.draw(<PrintUpsell />);
  expect(drawn.host.querySelector('dialog')).toBeNull();
});

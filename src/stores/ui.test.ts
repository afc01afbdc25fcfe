import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as ui from './ui.ts';

const { $ui } = ui;

const closed = $ui.get();

beforeEach(() => $ui.set(closed));
afterEach(() => vi.unstubAllGlobals());

describe('$ui', () => {
  it('opens the auth popup with its options, and closes it', () => {
    ui.openAuthPopup();
    expect($ui.get().authPopup).toEqual({});
    ui.openAuthPopup({ heading: 'Read on', showSigninDialog: true });
    expect($ui.get().authPopup).toEqual({ heading: 'Read on', showSigninDialog: true });
    ui.closeAuthPopup();
    expect($ui.get().authPopup).toBeNull();
  });

  it('has a flag for each menu, popup and overlay', () => {
    ui.setDashMenu(true);
    ui.setSiteMenu(true);
    ui.setWelcomePopup(true);
    ui.openSearch();
    ui.openUpgradeModal('print-edition');
    expect($ui.get()).toMatchObject({
      dashMenu: true,
      siteMenu: true,
      welcomePopup: true,
      searchOverlay: true,
      upgradeModal: 'print-edition',
    });
    ui.closeUpgradeModal();
    ui.setDashMenu(false);
    expect($ui.get()).toMatchObject({ dashMenu: false, upgradeModal: null });
  });

  it('clears the query when the search is closed', () => {
    ui.openSearch();
    ui.setSearchInput('lighthouse');
    expect($ui.get().searchInput).toBe('lighthouse');
    ui.closeSearch();
    expect($ui.get()).toMatchObject({ searchOverlay: false, searchInput: '' });
  });

  it('clears price, plan and frequency, and nothing else, when the paywall is closed', () => {
    ui.openAuthPopup({ heading: 'Read on' });
    for (const open of [ui.setDashMenu, ui.setSiteMenu, ui.setWelcomePopup]) open(true);
    ui.openSearch();
    ui.setSearchInput('lighthouse');
    ui.openUpgradeModal('print-edition');
    const before = $ui.get();
    const kept = { campaign: 'penny', next: '/article/a' };
    const payload = { priceId: 'price_1', planId: 'reader-yearly', frequency: 'year', ...kept } as const;
    ui.openPaywall(payload);
    expect($ui.get()).toEqual({ ...before, paywall: { open: true, payload } });
    ui.closePaywall();
    expect($ui.get()).toEqual({ ...before, paywall: { open: false, payload: kept } });
  });

  it('is checked for something open by a selector that browsers without popovers accept', () => {
    const querySelector = vi.fn((selector: string) => {
      // As these browsers do: within `:is()`, an unknown pseudo-class is ignored.
      if (selector.replace(/:is\([^)]*\)/, '').includes(':popover-open')) throw new DOMException('', 'SyntaxError');
      return null;
    });
    vi.stubGlobal('document', { activeElement: null, querySelector });
    expect(ui.isBusy()).toBe(false);
    expect(querySelector).toHaveBeenCalledOnce();
  });
});
